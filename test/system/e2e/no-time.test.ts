/**
 * Behind a firewall: no time server answers, or none of use. Founding, examining and running a node
 * go on with the clock of the machine; only the fatal timeout ends it, in one line.
 */
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { blackHole, timeServer } from '../../adapters/time-server.ts';
import { jsonLines, run } from '../../cli/run.ts';
import { startNode } from './dev-node.ts';
import { API_KEY, networkFolder } from './network-folder.ts';
import { eventually, startCommand } from './process.ts';

// Many starts of real processes.
t.setTimeout(600_000);

const EMPTY = { PLATFORM_NODE_OWNER_PASSWORD_EMPTY: 'true' };

const asking = (servers: readonly string[]): string => `ntp.servers=${JSON.stringify(servers)}`;
const setting = (servers: readonly string[], more: readonly string[] = []): string[] =>
  [asking(servers), ...more].flatMap((set) => ['--set', set]);

/** Lines that are no log, and no warning about the settings of the test. */
const saidIn = (text: string): string[] =>
  text.split('\n').filter((line) => line !== '' && !/^(\{|warning: )/.test(line));

/** Servers from which nobody learns the time. */
async function useless(t: Test): Promise<Readonly<Record<string, readonly string[]>>> {
  const [silent, other, lying] = [await blackHole(t), await blackHole(t), await timeServer(t)];
  lying.lie(1000 * 86_400_000);
  const garbage = await timeServer(t);
  garbage.deliver((_, send) => send(Buffer.alloc(48, 0x24)));
  return {
    'silent ones': [silent.place, other.place],
    'a name without an address': ['no-such-host.invalid'],
    'garbage, a minority and a liar': [garbage.place, silent.place, lying.place],
    'a liar alone': [lying.place],
  };
}

t.test('genesis sign', async (t) => {
  for (const [why, servers] of Object.entries(await useless(t))) {
    const { config, dir } = await networkFolder(t);
    // The folder was signed a moment ago, and copies are named by the second.
    for (const name of readdirSync(dir)) if (name.includes('.old.')) rmSync(join(dir, name));
    const begun = Date.now();
    const { code, stdout, stderr } = await run([
      'genesis',
      'sign',
      '--force',
      config,
      ...setting(servers),
    ]);
    t.equal(code, 0, `${why}: ${stderr}`);
    t.match(stdout, /"signature":"\w+"/);
    const warnings = stderr.split('\n').filter((line) => /clock of this machine/.test(line));
    t.equal(warnings.length, 1, `one warning: ${stderr}`);
    const signedAt = Number(/block-timestamp = (\d+)/.exec(readFileSync(config, 'utf8'))?.[1]);
    t.ok(signedAt >= begun && signedAt <= Date.now(), 'the time of the machine');
  }
});

t.test('doctor', async (t) => {
  for (const [why, servers] of Object.entries(await useless(t))) {
    const { config } = await networkFolder(t);
    const { code, stdout, stderr } = await run(['doctor', config, ...setting(servers)]);
    const clock = jsonLines(stdout).filter((one) => one['check'] === 'clock');
    t.equal(clock.length, 1, `${why}: ${stderr}`);
    if (why === 'a liar alone') {
      t.match(clock[0], { status: 'warning', detail: /system clock is off by -86\d{9} ms/ });
      continue;
    }
    t.equal(code, 1, 'the node would end after the fatal timeout');
    const detail =
      /^(no time server answers|1 of 3 time servers agree).*ntp\.fatal-timeout = 5 min/;
    t.match(clock[0], { status: 'error', detail });
  }
});

t.test('start', async (t) => {
  const all = await useless(t);
  for (const why of ['silent ones', 'a liar alone'] as const) {
    const servers = all[why]!;
    const { config } = await networkFolder(t);
    const set = [asking(servers), 'ntp.request-timeout=200ms'];
    const node = await startNode(t, config, { apiKey: API_KEY, set });
    const height = await node.rest.height();
    await eventually(`${why}: blocks`, async () =>
      (await node.rest.height()) > height + 3 ? true : undefined,
    );
    const { NTP } = (await node.rest.get('/utils/time')).body as { NTP: number };
    t.ok(Math.abs(NTP - Date.now()) < 10_000, 'the clock of the machine serves');
    const events = node
      .log()
      .split('\n')
      .flatMap((line) => /"event":"(ntp\.[^"]+)"/.exec(line)?.[1] ?? []);
    t.equal(events.length, 1, `one warning: ${events.join()}`);
    t.equal((await node.stop()).code, 0);
  }
});

t.test('the fatal timeout', async (t) => {
  const all = await useless(t);
  for (const why of ['silent ones', 'garbage, a minority and a liar'] as const) {
    const servers = all[why]!;
    const { config } = await networkFolder(t);
    const times = ['ntp.request-timeout=200ms', 'ntp.fatal-timeout=4s'];
    const started = startCommand(t, ['start', config, ...setting(servers, times)], { env: EMPTY });
    t.same(await started.exit, { code: 69, signal: null }, why);
    const said = saidIn(started.stderr());
    t.equal(said.length, 1, said.join('\n'));
    t.match(said[0], /^clock \(ntp\.fatal-timeout = 4 seconds, ntp\.servers\): /);
    t.match(said[0], /UDP port 123 .*ntp\.servers = \[\]/);
    t.match(started.stderr(), /"event":"node\.stopped"/, 'in order');
    const again = ['start', config, ...setting(servers, ['ntp.request-timeout=200ms'])];
    const next = startCommand(t, again, { env: EMPTY });
    await next.line('stderr', /block\.forged/);
    next.kill('SIGTERM');
    t.same(await next.exit, { code: 0, signal: null }, 'its data are as they were');
  }
});

t.test('a place that is none is refused with its key', async (t) => {
  const { config } = await networkFolder(t);
  for (const place of [
    'a:b:c',
    'host:0',
    'host:70000',
    '[::1',
    '[host]:1',
    ':123',
    'a b',
    '::1::',
  ]) {
    const { code, stderr } = await run(['config', 'check', config, ...setting([place])]);
    t.equal(code, 1, place);
    t.match(stderr, /ntp\.servers.*expected host or host:port/, place);
  }
  const good = setting([
    '::1',
    '[::1]:123',
    '10.0.0.1',
    '10.0.0.1:1',
    'time.example.org',
    'a:65535',
  ]);
  t.equal((await run(['config', 'check', config, ...good])).code, 0);
});
