// Lines of the log: JSON for machines, aligned text for people, and no secrets in either.
import { spawnSync } from 'node:child_process';
import { closeSync, existsSync, openSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { type LineOptions, lineLog } from '../../src/adapters/log.ts';
import { parse } from '../../src/base/json/json.ts';

function recorder(options: Partial<LineOptions> = {}) {
  const lines: string[] = [];
  const log = lineLog({ level: 'info', pretty: false, colours: false, ...options }, (line) =>
    lines.push(line),
  );
  return { log, lines };
}

t.test('a line of JSON', async (t) => {
  const { log, lines } = recorder();
  log.info('block.forged', { height: 2, fee: 2n ** 60n, why: 'a "reason"' });
  log.error('http.failed');
  const [first = '', second = ''] = lines;
  t.match(first, /^\{"level":"info","time":"\d{4}-\d\d-\d\dT[\d:.]+Z","event":"block\.forged","/);
  t.match(parse(first), { height: 2, fee: 2n ** 60n, why: 'a "reason"' }, 'every digit is there');
  t.match(second, /^\{"level":"error",.*"event":"http\.failed"\}\n$/);
});

t.test('the level can be changed', async (t) => {
  const { log, lines } = recorder({ level: 'warn' });
  log.info('a');
  log.setLevel('debug');
  t.equal(log.level(), 'debug');
  log.debug('b');
  log.setLevel('error');
  log.warn('c');
  log.error('d');
  t.strictSame(
    lines.map((line) => (parse(line) as { event: string }).event),
    ['b', 'd'],
  );
});

t.test('fields that hold secrets are masked, however deep', async (t) => {
  for (const pretty of [false, true]) {
    const { log, lines } = recorder({ pretty });
    log.info('a', {
      password: 'hunter2',
      owner: { seedPhrase: 'hunter2', list: [{ 'api-key': 'hunter2', privateKey: 'hunter2' }] },
      publicKey: 'shown',
      apiKeyHash: 'shown too',
    });
    t.notMatch(lines.join(''), /hunter2/);
    t.match(lines.join(''), /shown.*shown too/);
  }
});

t.test('what cannot be printed does not take the line with it', async (t) => {
  const { log, lines } = recorder();
  const loop: Record<string, unknown> = {};
  loop['self'] = loop;
  log.warn('a', { loop, nothing: undefined, error: new TypeError('of ours'), after: 1 });
  const line = parse(lines[0] ?? '') as Record<string, unknown>;
  t.match(line, { loop: /circular/i, error: /TypeError: of ours/, after: 1 });
  t.notOk('nothing' in line);
});

t.test('a line for people', async (t) => {
  const { log, lines } = recorder({ pretty: true });
  log.warn('miner.failed', { why: 'two words', height: 3 });
  t.match(lines[0], /^\d\d:\d\d:\d\d\.\d{3} WARN {2}miner\.failed {9}why="two words" height=3\n$/);
  const coloured = recorder({ pretty: true, colours: true });
  coloured.log.error('x');
  t.match(coloured.lines[0], '\x1b[31mERROR\x1b[0m');
});

t.test('what a program has printed does not command the terminal', async (t) => {
  const { log, lines } = recorder({ pretty: true });
  log.warn('container.ended', {
    output: '\x1b[2J',
    why: 'a\u009b8m',
    list: ['\u202e', '\u{e0001}'],
  });
  t.match(
    lines[0],
    / output="\\u001b\[2J" why="a\\u009b8m" list=\["\\u202e","\\udb40\\udc01"\]\n$/,
  );
  t.notMatch(lines[0]?.trimEnd(), /\p{C}/u);
});

const isFull = existsSync('/dev/full');
t.test('a disk that is full does not hold up the process', { skip: !isFull }, async (t) => {
  const program = `
    import { stderrLog } from './src/adapters/log.ts';
    const log = stderrLog('info', false);
    for (let line = 0; line < 100; line++) {
      log.info('line', { line });
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    log.flush();
    process.stdout.write('still here');`;
  const full = openSync('/dev/full', 'w');
  const { status, stdout } = spawnSync(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', '--input-type=module', '--eval', program],
    {
      cwd: fileURLToPath(new URL('../..', import.meta.url)),
      stdio: ['ignore', 'pipe', full],
      env: {},
      encoding: 'utf8',
      timeout: 60_000,
    },
  );
  closeSync(full);
  t.equal(stdout, 'still here');
  t.equal(status, 0);
});
