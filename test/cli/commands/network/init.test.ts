// `network init`: a folder for each organisation, made of the shipped files, without keys.
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { parse } from 'yaml';
import { memberFiles } from '../../../../src/cli/commands/network/member-files.ts';
import { organisation } from '../../../../src/cli/commands/network/organisations.ts';
import { temporaryFolder } from '../../../system/e2e/dev-node.ts';
import { type RunOptions, run } from '../../run.ts';
import { answerOf, drafted, joined, merged, requested } from './folders.ts';

t.setTimeout(240_000);

const root = join(import.meta.dirname, '../../../..');
const read = (...path: readonly string[]): string => readFileSync(join(...path), 'utf8');

const NOBODY = 65_534;

t.test('a folder for each organisation', async (t) => {
  const dir = join(temporaryFolder(t), 'made', 'here');
  const words = [
    '--org',
    'alpha=host1',
    '--org',
    'beta=host2:7001',
    '--org',
    'gamma=[fd00::3]:7001:7002',
  ];
  const answer = answerOf(await run(['network', 'init', ...words, '--out', dir]));
  t.match(answer, {
    folder: dir,
    draft: /^[0-9a-f]{64}$/,
    members: [
      { name: 'alpha', declared: 'host1:6864', folder: join(dir, 'alpha') },
      { name: 'beta', declared: 'host2:7001', folder: join(dir, 'beta') },
      { name: 'gamma', declared: '[fd00::3]:7001', folder: join(dir, 'gamma') },
    ],
  });
  t.strictSame(readdirSync(dir).sort(), ['alpha', 'beta', 'gamma', 'genesis.conf']);
  for (const name of ['alpha', 'beta', 'gamma']) {
    t.strictSame(readdirSync(join(dir, name)).sort(), [
      'README.md',
      'compose.yaml',
      'genesis.conf',
      'node.conf',
      'platform-node.service',
    ]);
    t.equal(read(dir, name, 'genesis.conf'), read(dir, 'genesis.conf'), 'one draft');
  }
  const gamma = read(dir, 'gamma', 'node.conf');
  t.match(gamma, 'declared-address = "[fd00::3]:7001"');
  t.match(gamma, /known-peers = \[\s+"host1:6864"\s+"host2:7001"\s+\]/, 'the others');
  t.match(gamma, 'port = 7002 }');
  t.match(gamma, 'bind-address = "::"', 'an address of version 6 is listened to');
  t.notMatch(read(dir, 'beta', 'node.conf'), '"::"');
  t.match(read(dir, 'genesis.conf'), 'initial-balance = "7500000 WEST"');
});

t.test('unit and compose file are the shipped ones', async (t) => {
  const dir = temporaryFolder(t);
  await drafted(dir, 1);
  const unit = read(dir, 'alpha', 'platform-node.service').split('\n');
  const shipped = read(root, 'configs/systemd/platform-node.service').split('\n');
  const changed = unit.filter((line, i) => line !== shipped[i] && !line.startsWith('#'));
  t.strictSame(changed, ['ExecStart=platform-node start /var/lib/platform-node/node.conf']);
  t.equal(unit.length, shipped.length);
  const own = parse(read(dir, 'alpha', 'compose.yaml'), { merge: true });
  const all = parse(read(root, 'configs/network/compose.yaml'), { merge: true });
  t.strictSame(own.services.node.healthcheck, all.services.alpha.healthcheck);
  t.match(own.services.node, {
    image: 'platform-node',
    command: ['start', '/var/lib/platform-node/node.conf'],
    ports: ['127.0.0.1:7002:6862', '7001:7001'],
    volumes: ['.:/var/lib/platform-node'],
  });
  const ports = { peerPort: 1, restPort: 2, knownPeers: [] };
  const place = { name: 'x', declared: 'x:1', ...ports, tls: true, goesOn: false };
  const secure = parse(memberFiles(place, false).get('compose.yaml')!, { merge: true });
  t.match(secure.services.node.healthcheck.test.at(-1), "fetch('https://");
  t.match(secure.services.node.ports, ['2:6862', '1:1']);
});

t.test('consensus, round, cryptography, chain id, finality and TLS', async (t) => {
  const dir = join(temporaryFolder(t), 'n');
  const more = ['--consensus', 'pos', '--round', '5s', '--crypto', 'national', '--chain-id', 'W'];
  const { requests } = await requested(dir, 2, [...more, '--tls']);
  answerOf(await merged(dir, requests));
  const shown = answerOf(await run(['config', 'show', join(dir, 'alpha', 'node.conf')]));
  t.match(shown, {
    'platform-crypto': 'no',
    'blockchain.consensus.type': 'pos',
    'blockchain.custom.genesis.average-block-delay': /^5/,
    'blockchain.custom.address-scheme-character': 'W',
    'rest-api.bind-address': '0.0.0.0',
    'rest-api.tls.cert': join(dir, 'alpha', 'rest-cert.pem'),
  });
  t.match(read(dir, 'alpha', 'README.md'), 'rest-cert.pem');
  t.notMatch(read(dir, 'genesis.conf'), /1004 = 0/);
  const quick = join(temporaryFolder(t), 'n');
  await drafted(quick, 4, ['--round', '500ms']);
  const text = read(quick, 'genesis.conf');
  t.match(text, /1004 = 0/);
  t.match(text, /round-duration = 425ms\s+sync-duration = 75ms/);
});

t.test('fewer than four members with finality go on without votes', async (t) => {
  const dir = temporaryFolder(t);
  const line = /^ {2}miner\.wait-for-votes = no$/m;
  const conf = async (name: string, count: number, ...more: readonly string[]) => {
    await drafted(join(dir, name), count, more);
    return read(dir, name, 'alpha', 'node.conf');
  };
  t.match(await conf('three', 3), line);
  t.notMatch(await conf('four', 4), line);
  t.notMatch(await conf('without', 3, '--no-finality'), line);
  t.notMatch(read(dir, 'without', 'genesis.conf'), /1004/);
  t.notMatch(await conf('pos', 3, '--consensus', 'pos'), line);
});

t.test('wrong organisations', async (t) => {
  const wrong: readonly (readonly [string, RegExp])[] = [
    ['a=i', /'a' is named twice/],
    ['b=H', /'a' and 'b' are both at H:6864/],
    ['b=300.1.1.1', /'300\.1\.1\.1' is no host/],
    ['b=0.0.0.0', /is no host/],
    ['b=[::]', /is no host/],
    ['b=::1', /'' is no host/],
    ['b=ho st', /'ho st' is no host/],
    ['b=-h', /is no host/],
    ['b=x:0', /'0' is no port/],
    ['b=x:65536', /no port/],
    ['b=x:7:7', /both ports are 7/],
    ['b', /expected name=host/],
    ['../b=x', /the name '\.\.\/b' must have/],
    ['B=x', /the name 'B' must have/],
  ];
  const former = organisation('a=h');
  for (const [text, why] of wrong) t.throws(() => organisation(text, former), why, text);
  const all = Array.from({ length: 100 }, (_, i) => `n${i}=h${i}`);
  const most = all.reduce((some, text) => organisation(text, some), organisation('a=h').slice(1));
  t.throws(() => organisation('b=x', most), /at most 100/);
});

t.test('wrong words change nothing', async (t) => {
  const out = join(temporaryFolder(t), 'out');
  const wrong: readonly (readonly [readonly string[], RegExp])[] = [
    [['--org', 'a=h', '--org', 'a=i'], /'a' is named twice/],
    [[], /required option '--org/],
    [['--org', 'a=h', '--round', '1'], /a duration/],
    [['--org', 'a=h', '--chain-id', 'TT'], /one letter or digit/],
  ];
  for (const [words, why] of wrong) {
    const { code, stderr } = await run(['network', 'init', ...words, '--out', out]);
    t.equal(code, 2, words.join(' '));
    t.match(stderr, why);
    t.notOk(existsSync(out));
  }
});

t.test('a folder that exists, and one that cannot be written', async (t) => {
  const dir = temporaryFolder(t);
  const init = (out: string, options: RunOptions = {}) =>
    run(['network', 'init', '--org', 'a=h', '--out', out], options);
  mkdirSync(join(dir, 'full'));
  writeFileSync(join(dir, 'full', 'file'), '');
  t.match(await init(join(dir, 'full')), { code: 1, stderr: /full is not empty/ });
  t.strictSame(readdirSync(join(dir, 'full')), ['file']);
  t.match(await init(join(dir, 'full', 'file', 'x')), {
    code: 1,
    stderr: /cannot be made: ENOTDIR/,
  });
  mkdirSync(join(dir, 'empty'), { mode: 0o555 });
  chmodSync(dir, 0o755);
  const somebody = process.getuid?.() === 0 ? { uid: NOBODY } : {};
  for (const out of ['empty', 'empty/x']) {
    const refused = await init(join(dir, out), somebody);
    t.match(refused, { code: 1, stderr: /cannot be (made|written): EACCES/ });
    t.notMatch(refused.stderr, /\n +at /, 'one line');
  }
  chmodSync(join(dir, 'empty'), 0o755);
  t.match(await init(join(dir, 'empty')), { code: 0 });
});

t.test('for one that joins', async (t) => {
  const dir = temporaryFolder(t);
  const [network, fresh] = [join(dir, 'network'), join(dir, 'fresh')];
  const from = (...more: readonly string[]) =>
    run([
      'network',
      'init',
      '--from',
      join(network, 'alpha'),
      '--org',
      'epsilon=h5',
      '--out',
      fresh,
      ...more,
    ]);
  const { requests } = await requested(network);
  t.match(await from(), { code: 1, stderr: /is a draft, without the keys of alpha, beta/ });
  answerOf(await merged(network, requests));
  for (const more of [['--round', '1s'], ['--no-finality']]) {
    t.match(await from(...more), { code: 2, stderr: /the network has been chosen/ });
  }
  answerOf(await from());
  t.strictSame(readdirSync(fresh), ['epsilon']);
  t.equal(read(fresh, 'epsilon', 'genesis.conf'), read(network, 'genesis.conf'));
  t.match(
    read(fresh, 'epsilon', 'node.conf'),
    /known-peers = \[\s+"127\.0\.0\.1:7001"\s+"127\.0\.0\.2:7001"\s+\]/,
  );
  t.match(read(fresh, 'epsilon', 'README.md'), /a connection manager of the network/);
  const { owner, members } = {
    ...answerOf(await joined(join(fresh, 'epsilon'))),
    ...answerOf(await run(['network', 'checksum', join(fresh, 'epsilon')])),
  };
  t.notOk((members as unknown[]).includes(owner));
  const note = readdirSync(join(fresh, 'epsilon')).includes('finality-note');
  t.ok(note, 'its key was made just now, so it has never voted');
});
