/**
 * Row R26 of the goals: a hostile author, hostile senders and a hostile client, all at once, on four
 * nodes of which two execute, one over TCP; a third one has an engine and is banned. Then images and
 * containers attack the machine, one row after the other. A good contract is called at a steady pace
 * meanwhile. It loses no call, every round has its block, and memory and disk come back. The figures
 * are printed; CONTAINERS_SECONDS sets the duration of the first part. Without it all is less,
 * so that two slow cores, on which the start of a container takes a second, can do it.
 */
import t from 'tap';
import { createSenders } from '../../../bench/transfers/senders.ts';
import type { JsonObject } from '../../../src/base/json/json.ts';
import { freePorts } from '../../../src/cli/commands/dev/free-ports.ts';
import { containersWith } from '../../containers/api.ts';
import { whyNoDaemon } from '../../containers/daemon.ts';
import { privateEngine } from '../../containers/engine.ts';
import { whyNoBusybox } from '../../containers/images.ts';
import { leftOut } from '../../left-out.ts';
import { eventually } from '../e2e/process.ts';
import { processNetwork, scheme } from '../e2e/process-network.ts';
import { runFirst } from './client-priority.ts';
import {
  type Author,
  createExecuted,
  createHostile,
  silentImages,
  startAttack,
} from './hostile/attack.ts';
import { startGoodCalls } from './hostile/good-calls.ts';
import { goodImage } from './hostile/images.ts';
import {
  attackMachine,
  CLOSED_REGISTRY,
  diskUse,
  imagesOf,
  watchMachine,
} from './hostile/machine.ts';
import { INSPECTABLE, memoryInUse, residentMemory } from './hostile/node-memory.ts';
import { hostileRegistry, IMAGE_SIZE_MAX } from './hostile/registry.ts';
import { verdict } from './loaded-node.ts';

const ASKED = process.env['CONTAINERS_SECONDS'];
const SECONDS = Number(ASKED ?? 3);
/**
 * Calls of the good contract a second, the longest call in a round, the longest pull, how long
 * containers stay, and what is sent.
 */
const { CALLS, CALL, PULL, ROUND_MS, STAY, FLOOD, SILENT, PULLS } =
  ASKED === undefined
    ? {
        CALLS: 1,
        CALL: '2s',
        PULL: '15s',
        ROUND_MS: 3000,
        STAY: '60s',
        FLOOD: 4,
        SILENT: 1,
        PULLS: 1,
      }
    : {
        CALLS: 20,
        CALL: '1200ms',
        PULL: '5s',
        ROUND_MS: 2000,
        STAY: '10s',
        FLOOD: 1e6,
        SILENT: 4,
        PULLS: 1e6,
      };
/** They take turns with the others. */
const EXECUTING = [0, 2];
/** Its owner may not send, so it must execute nothing and drop nothing. */
const BANNED = 1;
const OVER_TCP = 2;
const LIMITS = { memoryMb: 256, cpus: 1 };
const NODES = 4;
const GOOD_SENDERS = 8;
const HOSTILE = { name: 'hostile', count: 3 };
const FUNDS = 50_000_000_000;
const WAIT_ROUNDS = 3;
/** So long the good contract is in use before the attack: both executing nodes have had a turn. */
const IN_USE_ROUNDS = 6;
/** In one answer. */
const HEADERS_MAX = 100;
const SETTLED_MS = 240_000;
/** What the system has given a node, of which V8 and the allocator keep much for later. */
const MEMORY_MB = 256;
/** What objects and buffers still take after a collection. */
const IN_USE_MB = 48;
const MEMORY_MS = 60_000;
const DISK = '5g';
/** Of images that were built meanwhile, and the good one that was fetched. */
const DISK_MB = 32;

t.setTimeout(1_200_000 + SECONDS * 3_000);

const reason = whyNoDaemon() ?? whyNoBusybox();
const skip = reason !== undefined && leftOut(reason);

t.test(`a hostile author for ${SECONDS} s`, { skip }, async (t) => {
  // With a disk of its own, whose use is then that of images and containers alone.
  const engine = await privateEngine(t, { diskSize: DISK, givesWay: true });
  const registry = await hostileRegistry(t);
  const [port] = await freePorts(1);
  const network = await processNetwork(t, {
    nodes: NODES,
    roundMs: ROUND_MS,
    env: INSPECTABLE,
    set: (index) => [
      'docker-engine.contract-execution-messages-cache.utx-cleanup-interval=2s',
      ...(EXECUTING.includes(index) || index === BANNED
        ? [
            'docker-engine.enable=yes',
            `docker-engine.docker-host=${engine.host}`,
            `docker-engine.execution-limits.timeout=${CALL}`,
            `docker-engine.execution-limits.memory=${LIMITS.memoryMb}`,
            'docker-engine.contracts-parallelism=4',
            `docker-engine.remove-container-after=${STAY}`,
            `docker-engine.allowed-images=["${registry.domain}/*","${CLOSED_REGISTRY}/*"]`,
            `docker-engine.image-size-max=${IMAGE_SIZE_MAX}`,
            `docker-engine.pull-timeout=${PULL}`,
          ]
        : []),
      ...(index === OVER_TCP
        ? [
            'docker-engine.grpc-listen=tcp',
            'api.grpc.bind-address=0.0.0.0',
            `api.grpc.port=${port}`,
          ]
        : []),
    ],
  });
  const { nodes } = network;
  await Promise.all(nodes.map(({ start }) => start()));
  await network.connected();
  const rests = nodes.map(({ rest }) => rest);
  const [first] = rests;
  const owner = network.accounts[0]!.address;
  const authors = network.accounts.slice(-2).map(({ address }) => ({ rest: first!, address }));
  const [author, other] = authors as [Author, Author];
  const send = async (tx: JsonObject): Promise<string> =>
    String((await first!.broadcast(await first!.sign({ sender: owner, ...tx })))['id']);
  const executed = (id: string): Promise<unknown> =>
    eventually(
      `the result of ${id}`,
      async () => {
        const { status } = await first!.get(`/contracts/executed-tx-for/${id}`);
        return status === 200 || undefined;
      },
      SETTLED_MS,
    );

  const good = createSenders(GOOD_SENDERS, scheme, 'good');
  const hostile = createSenders(HOSTILE.count, scheme, HOSTILE.name);
  const role = { opType: 'add', role: 'contract_developer' };
  const transfers = [...good, ...hostile].map((one) => ({
    recipient: scheme.addressToText(one.address),
    amount: FUNDS,
  }));
  const prepared: string[] = [await send({ type: 11, transfers, attachment: '' })];
  for (const { address } of authors)
    prepared.push(await send({ type: 102, target: address, ...role }));
  const banned = network.accounts[BANNED]!.address;
  prepared.push(await send({ type: 102, target: banned, opType: 'add', role: 'banned' }));
  await Promise.all(prepared.map((id) => first!.mined(id)));
  const image = await goodImage(engine);
  const goodId = await send({ type: 103, version: 1, ...image, contractName: 'good', params: [] });
  const contracts = await createHostile(engine, author);
  const silent = await silentImages(engine, SILENT);
  await Promise.all([goodId, ...Object.values(contracts).flat()].map(executed));
  // It has missed its turns until then.
  const isRemovedFromNetwork = async () => {
    const { body } = await first!.get(`/consensus/bannedMiners/${await first!.height()}`);
    return ((body as JsonObject)['bannedMiners'] as string[]).includes(banned) || undefined;
  };
  await eventually('the rounds of the others alone', isRemovedFromNetwork, SETTLED_MS);

  const memory = (): number[] => nodes.map(residentMemory);
  const before = memory();
  const inUse = (): Promise<number[]> => Promise.all(nodes.map(memoryInUse));
  const inUseBefore = await inUse();
  const diskBefore = await diskUse(engine);
  const machine = await watchMachine(engine, LIMITS);
  const from = await first!.height();
  runFirst(process.pid);
  const calls = startGoodCalls(rests, goodId, good, from, CALLS);
  await new Promise((resolve) => setTimeout(resolve, IN_USE_ROUNDS * ROUND_MS));
  const attack = startAttack(t, {
    urls: rests.map(({ url }) => url),
    apiKey: network.apiKey,
    authors: [author.address, other.address],
    contracts,
    senders: HOSTILE,
    flood: FLOOD,
    silent,
    pulls: registry.slow.slice(0, PULLS),
  });
  const fetched = createExecuted(registry.good, { rest: first!, address: owner }, SETTLED_MS);
  // A failure is told below.
  fetched.catch(() => undefined);
  await new Promise((resolve) => setTimeout(resolve, SECONDS * 1000));
  const during = memory();
  const attacked = await attack.end();
  const refused = await attackMachine(t, engine, nodes, other, registry);
  await Promise.all([calls.end(), machine.end(), fetched]);
  const to = await first!.height();
  await calls.settled(SETTLED_MS);

  for (const [kind, count] of Object.entries(attacked.counts)) t.comment(`${kind}: ${count}`);
  const late = Array.from({ length: calls.sent - calls.waits.length }, () => SETTLED_MS);
  const waits = [...calls.waits, ...late].sort((a, b) => a - b);
  const [p50, p99] = [0.5, 0.99].map((share) => waits[Math.floor(waits.length * share)] ?? 0);
  const isQuick = (p99 ?? 0) < WAIT_ROUNDS * ROUND_MS;
  t.comment(
    `good calls wait, p50 ${p50?.toFixed()} ms, p99 ${p99?.toFixed()} ms: ${verdict(isQuick)}`,
  );
  t.comment(
    `${calls.lost} of ${calls.sent} were in a block that lost, ${calls.passedOver} passed over`,
  );
  const times: number[] = [];
  for (let at = from; at <= to; at += HEADERS_MAX) {
    const last = Math.min(to, at + HEADERS_MAX - 1);
    const { body } = await first!.get(`/blocks/headers/seq/${at}/${last}`);
    times.push(...(body as JsonObject[]).map(({ timestamp }) => Number(timestamp)));
  }
  const rounds = Math.round((times.at(-1)! - times[0]!) / ROUND_MS);
  const missed = rounds - (times.length - 1);
  t.comment(`${missed} of ${rounds} rounds without a block: ${verdict(missed === 0)}`);
  t.comment(`memory in MB: ${before} before, ${during} at the end`);

  t.comment(`containers of a node: ${machine.most} at most, of ${machine.allowed}`);
  t.ok(machine.most <= machine.allowed, 'no node has more containers than the machine may have');
  t.same(machine.tooHeavy, [], 'each weighs its share');
  t.same(calls.refused, [], 'no good call was refused');
  for (const [i, { rest }] of nodes.entries()) {
    const counted = async () => {
      const { body } = await rest.get(`/contracts/${goodId}/count`);
      return (body as JsonObject)['value'] === calls.sent || undefined;
    };
    const all = await eventually(`the good calls on node ${i + 1}`, counted, SETTLED_MS);
    t.ok(all, `node ${i + 1} has every good call once`);
  }
  await t.test('what can never succeed leaves all pools', async () => {
    // The banned one will judge for itself, once it may.
    for (const { rest } of nodes.filter((_, i) => i !== BANNED)) {
      for (const id of [...attacked.lost, ...refused]) {
        const hasLeft = async () => {
          const { status } = await rest.get(`/transactions/unconfirmed/info/${id}`);
          return status === 404 || undefined;
        };
        await eventually(`the end of ${id}`, hasLeft, SETTLED_MS);
      }
    }
  });
  await t.test('memory comes back', async (t) => {
    let used: number[] = [];
    // What waits for its end, such as calls that expire, is held until then.
    const isFree = async () => {
      used = await inUse();
      return used.every((mb, i) => mb < inUseBefore[i]! + IN_USE_MB) || undefined;
    };
    await eventually('the memory that is in use', isFree, MEMORY_MS);
    t.comment(`of it in use after a collection: ${inUseBefore} before, ${used} afterwards`);
    for (const [i, node] of nodes.entries()) {
      const isBack = () => residentMemory(node) < before[i]! + MEMORY_MB || undefined;
      await eventually(`the memory of node ${i + 1}`, isBack, MEMORY_MS);
    }
  });
  t.comment(`memory in MB: ${memory()} afterwards`);
  await Promise.all(nodes.map(({ stop }) => stop()));
  t.same(await containersWith(engine.socketPath, 'platform-node.node'), [], 'no container is left');
  t.same(await imagesOf(engine, registry.domain), [registry.good.imageHash], 'one was fetched');
  const disk = await diskUse(engine);
  t.comment(`disk of the engine in MB: ${diskBefore} before, ${disk} afterwards`);
  t.ok(disk < diskBefore + DISK_MB, 'the disk comes back');
});
