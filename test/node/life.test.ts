// Row R23 of the reliability goals: when any call to the outside fails while a node starts or
// stops, all started parts are ended and none keeps running.
import t, { type Test } from 'tap';
import { Disposal, DisposalError } from '../../src/base/disposal.ts';
import type { NodePorts } from '../../src/node/node.ts';
import { createMemoryNet } from '../simulated/memory-net.ts';
import { type WholeNode, wholeNode } from './in-process.ts';
import { noHttp } from './memory-ports.ts';

/** Ports whose calls count and can fail. Timers and random numbers never fail in a process. */
const WATCHED = [
  'store',
  'journal',
  'verifier',
  'http',
  'network',
  'files',
  'privateStore',
] as const;
/** A port of the kinds that hold something of the system; each end is one of these calls. */
const ENDS = new Set(['store.close', 'journal.close', 'network.close', 'rest.close']);
const ASYNC = /\.(write|append|rewrite|close|stop|listen|resolve|dial|verify|verifyOne|reload)$/;
/** Of one kind of call the first ones are enough: reads of the store are many. */
const OF_A_KIND_MAX = 3;

class Witness {
  readonly calls: string[] = [];
  /** Number of the call that fails. */
  failsAt = Number.POSITIVE_INFINITY;
  private counted = 0;
  private readonly kinds = new Map<string, number>();

  wrap<T extends object>(name: string, port: T): T {
    return new Proxy(port, {
      get: (target, key) => {
        const value: unknown = Reflect.get(target, key);
        if (typeof value !== 'function' || typeof key !== 'string') return value;
        return (...args: unknown[]) => this.call(`${name}.${key}`, () => value.apply(target, args));
      },
    });
  }

  private call(name: string, make: () => unknown): unknown {
    this.calls.push(name);
    const seen = (this.kinds.get(name) ?? 0) + 1;
    this.kinds.set(name, seen);
    if (seen <= OF_A_KIND_MAX && ++this.counted === this.failsAt) {
      const failure = new Error(`injected into ${name}`);
      if (ASYNC.test(name)) return Promise.reject(failure);
      throw failure;
    }
    const result = make();
    // The server that listening gives is one more port.
    if (name !== 'http.listen') return result;
    return (result as Promise<object>).then((server) => {
      this.calls.push('rest.listening');
      return this.wrap('rest', server);
    });
  }

  get points(): number {
    return this.counted;
  }

  around(ports: NodePorts): NodePorts {
    const wrapped = WATCHED.map((name) => [name, ports[name] && this.wrap(name, ports[name])]);
    const around: NodePorts = { ...ports, ...Object.fromEntries(wrapped) };
    // As the program does that opens them.
    const started = new Disposal();
    started.add('store', () => around.store.close());
    started.add('journal', () => around.journal.close());
    return { ...around, started };
  }
}

interface Trial {
  readonly witness: Witness;
  readonly clock: () => WholeNode['clock'];
  start(): Promise<WholeNode>;
}

function trial(t: Test): Trial {
  const witness = new Witness();
  let clock: WholeNode['clock'] | undefined;
  const net = createMemoryNet({
    after: (ms, action) => clock!.after(ms, action),
    faults: () => ({}),
  });
  return {
    witness,
    clock: () => clock!,
    start: () =>
      wholeNode(t, {
        privateData: true,
        http: noHttp,
        set: ['network.listen=yes', 'network.port=6864', 'network.known-peers=["10.0.0.9:6864"]'],
        around(ports) {
          clock = ports.clock as WholeNode['clock'];
          return witness.around({ ...ports, network: net.host('10.0.0.1') });
        },
      }),
  };
}

/** Nothing of the node is left that could do anything. */
async function isOver(t: Test, { witness, clock }: Trial, what: string): Promise<void> {
  const { calls } = witness;
  await clock().advance(0);
  const ended = (name: string) => calls.includes(name);
  t.ok(ended('journal.close'), `${what}: the journal is closed`);
  t.ok(ended('store.close'), `${what}: the store is closed`);
  t.ok(!ended('network.listen') || ended('network.close'), `${what}: the network is closed`);
  t.equal(ended('rest.close'), ended('rest.listening'), `${what}: the REST port is closed`);
  const before = calls.length;
  await clock().advance(3_600_000);
  t.strictSame(calls.slice(before), [], `${what}: nothing runs on`);
  t.equal(clock().timers(), 0, `${what}: no timer waits`);
}

t.test('a start fails at any call to the outside', async (t) => {
  const whole = trial(t);
  const node = await whole.start();
  const points = whole.witness.points;
  t.ok(points > 15, `${points} calls`);
  await node.stop();
  await isOver(t, whole, 'a stop');

  let refused = 0;
  for (let point = 1; point <= points; point++) {
    const one = trial(t);
    one.witness.failsAt = point;
    const started = await one.start().catch((cause: Error) => cause);
    const what = `call ${point}, ${one.witness.calls.at(-1)}`;
    if (started instanceof Error) {
      refused++;
    } else {
      // A failure that a node can live with.
      await started.stop().catch(() => undefined);
    }
    await isOver(t, one, what);
  }
  t.ok(refused > points / 2, `${refused} of ${points} end the start`);
});

t.test('a stop fails at any call to the outside', async (t) => {
  const whole = trial(t);
  const node = await whole.start();
  const before = whole.witness.points;
  await node.stop();
  const { points } = whole.witness;
  let failed = 0;
  for (let point = before + 1; point <= points; point++) {
    const one = trial(t);
    one.witness.failsAt = point;
    const cause = await (await one.start()).stop().catch((error: Error) => error);
    if (cause instanceof DisposalError) failed++;
    else t.equal(cause, undefined);
    await isOver(t, one, `call ${point}`);
  }
  t.ok(failed >= ENDS.size, `${failed} of ${points - before}`);
});
