// `network merge` and `network checksum`: one signature over what all members asked for, and nothing else.
import { readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { base58 } from '../../../../src/base/base58.ts';
import { createFamily } from '../../../../src/crypto/families.ts';
import { temporaryFolder } from '../../../system/e2e/dev-node.ts';
import { run } from '../../run.ts';
import { answerOf, joined, merged, requested, requestOf } from './folders.ts';

t.setTimeout(240_000);

const read = (...path: readonly string[]): string => readFileSync(join(...path), 'utf8');
const checksum = (dir: string, env = {}) => run(['network', 'checksum', dir], { env });

t.test('all members see one checksum, and a node accepts what was signed', async (t) => {
  const dir = join(temporaryFolder(t), 'n');
  const { names, requests } = await requested(dir, 3);
  // In any order.
  const answer = answerOf(await merged(dir, requests.toReversed()));
  t.match(answer, { checksum: /^[0-9a-f]{64}$/, signature: String, timestamp: Number });
  t.match(
    answer['members'],
    names.map((name) => ({ name })),
    'in the order of the draft',
  );
  const { checksum: first } = answer;
  t.equal(answerOf(await checksum(dir))['checksum'], first, 'of the founder');
  for (const name of names) {
    const own = join(dir, name);
    t.equal(read(own, 'genesis.conf'), read(dir, 'genesis.conf'));
    t.match(answerOf(await checksum(own)), { checksum: first, signature: answer['signature'] });
    t.match(answerOf(await run(['config', 'check', '--strict', join(own, 'node.conf')])), {
      ok: true,
      warnings: [],
    });
    t.match(answerOf(await run(['genesis', 'verify', join(own, 'node.conf')])), {
      signature: answer['signature'],
    });
  }
  const again = await merged(dir, requests);
  t.match(again, { code: 1, stderr: /merged already/ });
  t.equal(answerOf(await checksum(dir))['checksum'], first, 'it is signed once');
});

t.test('the time of the signature comes from where this machine says', async (t) => {
  const dir = join(temporaryFolder(t), 'n');
  const { requests } = await requested(dir);
  const merge = (env: Record<string, string>) =>
    run(['network', 'merge', dir, ...requests], {
      env: { NODE_UTX_TX_EXPIRE_TIMEOUT: '7m', ...env },
    });
  const wrong = await merge({ NODE_NTP_SERVERS: '["a b"]' });
  t.match(wrong, { code: 1, stderr: /NODE_NTP_SERVERS/ });
  const own = await merge({ NODE_NTP_SERVERS: '[]' });
  t.notMatch(own.stderr, /time server/);
  t.equal(answerOf(await checksum(dir))['checksum'], answerOf(own)['checksum']);
});

t.test('the checksum tells what would part the nodes', async (t) => {
  const dir = join(temporaryFolder(t), 'n');
  const { requests } = await requested(dir);
  t.match(await checksum(dir), { code: 1, stderr: /is a draft/ });
  t.match(await checksum(join(dir, 'alpha')), {
    code: 1,
    stderr: /without the keys of alpha, beta/,
  });
  const { checksum: agreed } = answerOf(await merged(dir, requests));
  const alpha = join(dir, 'alpha');
  const other = answerOf(await checksum(alpha, { NODE_UTX_TX_EXPIRE_TIMEOUT: '7m' }));
  t.not(other['checksum'], agreed, 'a setting of this node alone');
  const text = read(alpha, 'genesis.conf');
  writeFileSync(join(alpha, 'genesis.conf'), text.replace('"2500000 WEST" }', '"2499999 WEST" }'));
  t.match(await checksum(alpha), { code: 1, stderr: /signature|initial-balance/ });
  writeFileSync(join(alpha, 'genesis.conf'), text.replaceAll('\n', '\r\n'));
  t.equal(answerOf(await checksum(alpha))['checksum'], agreed, 'line ends do not matter');
});

t.test('a copy that cannot be written changes nothing about the one signature', async (t) => {
  const folder = temporaryFolder(t);
  const dir = join(folder, 'n');
  const { requests } = await requested(dir);
  const copy = join(dir, 'alpha', 'genesis.conf');
  // No name is left for the file that would take its place.
  const long = join(folder, 'g'.repeat(250));
  renameSync(copy, long);
  symlinkSync(long, copy);
  const done = await merged(dir, requests);
  t.match(done.stderr, /alpha\/genesis\.conf stays a draft/);
  const { checksum: first } = answerOf(done);
  t.equal(answerOf(await checksum(dir))['checksum'], first);
  t.equal(answerOf(await checksum(join(dir, 'beta')))['checksum'], first);
  t.match(await checksum(join(dir, 'alpha')), {
    code: 1,
    stderr: /put the signed one in its place/,
  });
  t.match(await merged(dir, requests), { code: 1, stderr: /merged already/ });
});

t.test('a wrong request signs nothing', async (t) => {
  const folder = temporaryFolder(t);
  const [dir, foreign] = [join(folder, 'n'), join(folder, 'foreign')];
  const { names, requests } = await requested(dir, 3);
  const other = await requested(foreign, 1);
  const draft = read(dir, 'genesis.conf');
  const forged = (name: string, change: (request: Record<string, unknown>) => object): string => {
    const path = join(folder, `${name}.json`);
    writeFileSync(
      path,
      JSON.stringify({
        ...JSON.parse(read(requests[0]!)),
        ...change(JSON.parse(read(requests[0]!))),
      }),
    );
    return path;
  };
  const text = (name: string, content: string): string => {
    const path = join(folder, name);
    writeFileSync(path, content);
    return path;
  };
  const key = createFamily('curve25519').keyPairFromPhrase('a thief').publicKey;
  const { address } = JSON.parse(read(requests[1]!));
  const wrong: readonly (readonly [string, RegExp])[] = [
    [forged('key', () => ({ publicKey: base58.encode(key) })), /address is not that of its key/],
    [forged('address', () => ({ address })), /address is not that of its key/],
    [forged('name', () => ({ name: 'delta' })), /not signed by its key/],
    [
      forged('signature', () => ({ signature: base58.encode(new Uint8Array(64)) })),
      /not signed by its key/,
    ],
    [forged('short', () => ({ signature: '1' })), /not signed by its key/],
    [forged('no-base58', () => ({ signature: '0OIl' })), /not signed by its key/],
    [
      forged('weak', () => ({ publicKey: base58.encode(new Uint8Array(32)) })),
      /public key is none/,
    ],
    [forged('path', () => ({ name: '../beta' })), /none of an organisation/],
    [forged('version', () => ({ request: 2 })), /no request of version 1/],
    [requestOf(foreign, 'alpha'), /made for another network/],
    [text('list.json', '[]'), /no request/],
    [text('text.json', 'no JSON'), /no JSON/],
    [text('long.json', ' '.repeat(20_000)), /more than 16384 bytes/],
    [join(folder, 'none.json'), /Cannot read/],
  ];
  const all = await merged(dir, [...wrong.map(([path]) => path), ...requests.slice(1)]);
  t.equal(all.code, 1);
  for (const [path, why] of wrong) {
    const line = all.stderr.split('\n').find((one) => one.includes(path)) ?? '';
    t.match(line, why, path);
  }
  t.match(all.stderr, /no request of alpha$/m, 'none of them counts');
  t.notMatch(all.stderr, /no request of .*beta/);
  const twice = await merged(dir, [...requests, requests[0]!]);
  t.match(twice, { code: 1, stderr: /'alpha' asks twice, here and in/ });
  const absent = await merged(dir, requests.slice(0, 2));
  t.match(absent, { code: 1, stderr: /^no request of gamma$/m });
  t.equal(other.requests.length, 1);
  for (const place of [dir, ...names.map((name) => join(dir, name))]) {
    t.equal(read(place, 'genesis.conf'), draft);
  }
  answerOf(await merged(dir, requests));
});

t.test('one key asks for two members, and a member that nobody named', async (t) => {
  const folder = temporaryFolder(t);
  const dir = join(folder, 'n');
  const { requests } = await requested(dir);
  // The owner of alpha renames its node: its request is signed, under a name that beta has.
  const alpha = join(dir, 'alpha');
  const own = read(requests[0]!);
  const renamed = async (name: string): Promise<string> => {
    const conf = join(alpha, 'node.conf');
    writeFileSync(conf, read(conf).replace(/node-name = "\w+"/, `node-name = "${name}"`));
    return String(answerOf(await joined(alpha))['request']);
  };
  const asBeta = await renamed('beta');
  writeFileSync(requests[0]!, own);
  t.match(await merged(dir, [requests[0]!, asBeta]), {
    code: 1,
    stderr: /this key asks twice.*\nno request of beta/,
  });
  const asOther = await renamed('omega');
  t.match(await merged(dir, [...requests, asOther]), { code: 1, stderr: /no member 'omega'/ });
});

t.test('drafts that differ, and a draft that was changed after the requests', async (t) => {
  const dir = join(temporaryFolder(t), 'n');
  const { requests } = await requested(dir);
  const draft = read(dir, 'genesis.conf');
  const richer = draft.replace('amount = "2500000 WEST" }', 'amount = "2600000 WEST" }');
  writeFileSync(join(dir, 'beta', 'genesis.conf'), richer);
  t.match(await merged(dir, requests), {
    code: 1,
    stderr: /differ: the members must have one draft/,
  });
  for (const place of [dir, join(dir, 'alpha')]) writeFileSync(join(place, 'genesis.conf'), richer);
  const changed = await merged(dir, requests);
  t.match(changed, { code: 1, stderr: /another draft/ });
  t.notMatch(read(dir, 'genesis.conf'), /signature = "\w/);
});
