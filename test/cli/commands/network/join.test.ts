// `network join`: keys in the folder of the member, and a request without them.
import {
  chownSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { lockFolder } from '../../../../src/adapters/folder-lock.ts';
import { base58 } from '../../../../src/base/base58.ts';
import { encodeHex } from '../../../../src/base/hex.ts';
import { createFamily } from '../../../../src/crypto/families.ts';
import { sha256 } from '../../../../src/crypto/sha256.ts';
import { temporaryFolder } from '../../../system/e2e/dev-node.ts';
import type { Scope } from '../../../system/e2e/process.ts';
import { run } from '../../run.ts';
import { answerOf, drafted, joined, merged, requested, requestOf } from './folders.ts';

t.setTimeout(240_000);

async function member(scope: Scope, more: readonly string[] = []): Promise<string> {
  const dir = temporaryFolder(scope);
  await drafted(join(dir, 'n'), 1, more);
  return join(dir, 'n', 'alpha');
}

const keys = ['keystore.dat', 'wallet-password', 'api-key'];
const contents = (dir: string): Record<string, string> =>
  Object.fromEntries(
    [...keys, 'node.conf'].map((name) => [name, readFileSync(join(dir, name)).toString('hex')]),
  );

t.test('the request is what it says', async (t) => {
  const dir = await member(t);
  const answer = answerOf(await joined(dir));
  const path = join(dir, 'alpha.request.json');
  t.match(answer, { name: 'alpha', isNew: true, request: path, apiKey: join(dir, 'api-key') });
  const request = JSON.parse(readFileSync(path, 'utf8'));
  t.match(request, { request: 1, name: 'alpha', address: answer['address'] });
  t.equal(request.publicKey, answer['publicKey']);
  const digest = sha256(readFileSync(join(dir, 'genesis.conf')));
  t.equal(request.network, encodeHex(digest));
  // As the description of the format has it.
  const family = createFamily('curve25519');
  const key = base58.decode(request.publicKey);
  const signed = Buffer.concat([
    Buffer.from([255]),
    Buffer.from('member'),
    digest,
    key,
    Buffer.from('alpha'),
  ]);
  t.ok(family.verify(key, signed, base58.decode(request.signature)));
  for (const name of keys) t.equal(statSync(join(dir, name)).mode & 0o077, 0, `${name} is secret`);
  const conf = readFileSync(join(dir, 'node.conf'), 'utf8');
  t.notMatch(conf, /<(address|folder|hash) /, 'nothing is left open');
  const apiKey = readFileSync(join(dir, 'api-key'), 'utf8').trim();
  t.match(conf, base58.encode(family.secureHash(Buffer.from(apiKey))));
  const listed = await run(['keystore', 'list', join(dir, 'node.conf')], { cwd: '/' });
  t.match(
    listed.stderr,
    /transactions|genesis|participant|recipient/i,
    'a draft is no configuration yet',
  );
});

t.test('again: nothing is overwritten', async (t) => {
  const dir = await member(t);
  const first = answerOf(await joined(dir));
  const before = contents(dir);
  rmSync(join(dir, 'alpha.request.json'));
  const result = await joined(dir);
  const again = answerOf(result);
  t.match(result.stderr, /was in .* before: whoever made it can sign as this node/);
  t.match(again, { isNew: false, address: first['address'], publicKey: first['publicKey'] });
  t.strictSame(contents(dir), before);
  const { code } = await merged(join(dir, '..'), [requestOf(join(dir, '..'), 'alpha')]);
  t.equal(code, 0, 'the new request is right');
});

t.test('an interrupted run is completed with the key that is there', async (t) => {
  const dir = await member(t);
  const conf = readFileSync(join(dir, 'node.conf'));
  const first = answerOf(await joined(dir));
  const before = contents(dir);
  // As if it had ended before node.conf and the request were written.
  writeFileSync(join(dir, 'node.conf'), conf);
  rmSync(join(dir, 'alpha.request.json'));
  t.match(answerOf(await joined(dir)), { isNew: false, address: first['address'] });
  t.strictSame(contents(dir), before);
});

t.test('two at once: one key, and the password of its keystore', async (t) => {
  const dir = await member(t);
  const turn = await lockFolder(dir, 'join-');
  const early = await joined(dir);
  t.match([early.code, early.stderr], [75, /another platform-node network join works in/]);
  turn.release();
  await Promise.all([joined(dir), joined(dir)]);
  const { address } = answerOf(await joined(dir));
  t.match(readFileSync(join(dir, 'node.conf'), 'utf8'), `owner-address = "${address}"`);
});

t.test('the key may have a password', async (t) => {
  const dir = await member(t);
  const withPassword = (env: Record<string, string>) =>
    run(['network', 'join', dir, '--password-env', 'SECRET'], { env });
  const first = answerOf(await withPassword({ SECRET: 'hunter2 of alpha' }));
  const wrong = await withPassword({ SECRET: 'another' });
  t.not(wrong.code, 0);
  t.match(wrong.stderr, /[Ww]rong password/);
  t.match(answerOf(await withPassword({ SECRET: 'hunter2 of alpha' })), {
    isNew: false,
    address: first['address'],
  });
  t.match(await run(['network', 'join', dir]), { code: 61 }, 'nobody can be asked');
});

t.test('another key, beside the lost one', async (t) => {
  const dir = await member(t);
  t.match(await joined(dir, '--new-key'), { code: 1, stderr: /has no key yet/ });
  t.strictSame(
    readdirSync(dir).filter((name) => keys.includes(name)),
    [],
    'nothing was made',
  );
  const old = answerOf(await joined(dir));
  const kept = contents(dir);
  writeFileSync(join(dir, 'finality-note'), 'of the old key');
  const chain = join(dir, 'data', 'chain');
  const lock = await lockFolder(chain);
  t.match(await joined(dir, '--new-key'), { code: 75 }, 'a node runs with the old one');
  t.strictSame(contents(dir), kept);
  lock.release();
  const fresh = answerOf(await joined(dir, '--new-key'));
  t.not(fresh['address'], old['address']);
  const conf = readFileSync(join(dir, 'node.conf'), 'utf8');
  t.match(conf, `owner-address = "${fresh['address']}"`);
  t.notMatch(conf, String(old['address']));
  t.equal(contents(dir)['wallet-password'], kept['wallet-password']);
  t.equal(contents(dir)['api-key'], kept['api-key']);
  const request = JSON.parse(readFileSync(join(dir, 'alpha.request.json'), 'utf8'));
  t.equal(request.publicKey, fresh['publicKey']);
  const note = `finality-note.${old['address']}`;
  t.strictSame(
    readdirSync(dir).filter((name) => name.startsWith('finality')),
    ['finality-note', note],
  );
  t.equal(readFileSync(join(dir, note), 'utf8'), 'of the old key');
  writeFileSync(join(dir, 'finality-note'), 'of a key that an interrupted run has made');
  writeFileSync(
    join(dir, 'node.conf'),
    conf.replaceAll(`${fresh['address']}`, `${old['address']}`),
  );
  Object.assign(fresh, answerOf(await joined(dir, '--new-key')));
  t.equal(readFileSync(join(dir, note), 'utf8'), 'of the old key', 'it stays');
  t.match(readFileSync(join(dir, `${note}.1`), 'utf8'), /interrupted/);
  const { code } = await merged(join(dir, '..'), [requestOf(join(dir, '..'), 'alpha')]);
  t.equal(code, 0);
  const listed = await run(['keystore', 'list', join(dir, 'node.conf')]);
  t.match(listed.stdout, String(old['address']), 'the old key is still there');
  t.match(listed.stdout, String(fresh['address']));
});

t.test('whatever the folder is called, and whatever else has the address', async (t) => {
  const dir = join(temporaryFolder(t), "a$$b$&$'");
  await drafted(join(dir, 'n'), 1);
  const place = join(dir, 'n', 'alpha');
  const { address } = answerOf(await joined(place)) as { address: string };
  const conf = join(place, 'node.conf');
  t.match(readFileSync(conf, 'utf8'), `wallet.file = "${join(place, 'keystore.dat')}"`);
  writeFileSync(conf, `# We are ${address}.\n${readFileSync(conf, 'utf8')}`);
  const { address: fresh } = answerOf(await joined(place, '--new-key'));
  t.match(readFileSync(conf, 'utf8'), `owner-address = "${fresh}"`);
  t.equal(answerOf(await joined(place))['address'], fresh);
});

t.test('a name that no one would take makes no request', async (t) => {
  const dir = await member(t);
  const conf = join(dir, 'node.conf');
  const text = readFileSync(conf, 'utf8');
  for (const name of ['../../beta', 'Alpha Ltd.']) {
    writeFileSync(conf, text.replace('node-name = "alpha"', `node-name = "${name}"`));
    t.match(await joined(dir), { code: 1, stderr: /network\.node-name must have 1 to 32/ });
  }
  t.notOk(existsSync(join(dir, 'keystore.dat')));
});

const skip = process.getuid?.() === 0 ? false : 'only root changes owners';

t.test('what root makes is of the owner of the folder', { skip }, async (t) => {
  const UID = 54_321;
  const dir = await member(t);
  answerOf(await joined(dir));
  answerOf(await merged(join(dir, '..'), [requestOf(join(dir, '..'), 'alpha')]));
  for (const name of ['.', ...readdirSync(dir)]) chownSync(join(dir, name), UID, UID);
  rmSync(join(dir, 'alpha.request.json'));
  for (const more of [[], ['--new-key'], ['--new-key']]) {
    answerOf(await joined(dir, ...more));
    const others = readdirSync(dir).filter((name) => statSync(join(dir, name)).uid !== UID);
    t.strictSame(others, []);
  }
  t.ok(existsSync(join(dir, 'finality-note')));
});

t.test('what is lost is said', async (t) => {
  const dir = await member(t);
  const { address } = answerOf(await joined(dir)) as { address: string };
  const password = readFileSync(join(dir, 'wallet-password'));
  rmSync(join(dir, 'wallet-password'));
  t.match(await joined(dir), { code: 1, stderr: /its password is not/ });
  writeFileSync(join(dir, 'wallet-password'), password);
  rmSync(join(dir, 'keystore.dat'));
  t.match(await joined(dir), { code: 1, stderr: new RegExp(`no key of ${address}.*--new-key`) });
  t.match(answerOf(await joined(dir, '--new-key')), { isNew: true });
  for (const [place, why] of [
    [join(dir, 'none'), /is no folder/],
    [temporaryFolder(t), /genesis\.conf does not exist/],
  ] as const) {
    t.match(await joined(place), { code: 1, stderr: why });
  }
  writeFileSync(join(dir, 'node.conf'), 'node {}');
  t.match(await joined(dir), { code: 1, stderr: /is not the one that/ });
});

t.test('national cryptography', async (t) => {
  const dir = temporaryFolder(t);
  const { requests } = await requested(join(dir, 'n'), 2, ['--crypto', 'national']);
  answerOf(await merged(join(dir, 'n'), requests));
  const path = join(dir, 'n', 'alpha');
  t.ok(statSync(join(path, 'keystore.dat')).isDirectory());
  t.match(answerOf(await run(['config', 'check', '--strict', join(path, 'node.conf')])), {
    ok: true,
  });
});
