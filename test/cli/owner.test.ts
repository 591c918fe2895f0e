// A start without access to the owner's key: scenario 8, distinct errors and exit codes.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { jsonLines, run } from './run.ts';

async function account(phrase: string): Promise<{ address: string; publicKey: string }> {
  const { stdout } = await run(['keystore', 'derive', '--chain-id', 'T'], { input: `${phrase}\n` });
  const [line] = jsonLines(stdout);
  return { address: String(line?.['address']), publicKey: String(line?.['publicKey']) };
}

t.test('the key of the owner', async (t) => {
  const dir = t.testdir({});
  const file = join(dir, 'node.conf');
  const [owner, stranger] = [await account('the owner'), await account('a stranger')];
  const text = (ownerAddress: string, wallet: string) => `node {
    owner-address = ${ownerAddress}, data-directory = "${dir}/data"
    wallet { file = "${dir}/${wallet}", password = "wallet" }
    network { bind-address = "127.0.0.1", port = 0 }, rest-api { bind-address = "127.0.0.1", port = 0 }
    ntp { servers = [], fatal-timeout = 5m }
    blockchain.consensus.type = poa
    address-scheme-character = T
    genesis {
      initial-balance = 5
      transactions = [ { recipient = ${owner.address}, amount = 5 } ]
      network-participants = [
        { public-key = ${owner.publicKey}, roles = [permissioner, miner, connection_manager] } ]
    }
  }`;
  writeFileSync(file, text(owner.address, 'keys.dat'));
  mkdirSync(join(dir, 'data'));
  t.equal((await run(['genesis', 'sign', file])).code, 0);
  const signed = readFileSync(file, 'utf8');
  const start = async (env: Record<string, string> = {}, ...flags: string[]) => {
    const { code, stdout, stderr } = await run(['start', file, ...flags], { env });
    t.equal(stdout, '');
    t.notMatch(stderr, /\n +at .*\.ts/, 'no stack trace');
    return { code, message: stderr };
  };

  const empty = await start();
  t.equal(empty.code, 1);
  t.match(empty.message, /^Wallet can't be empty/m);

  const imported = await run(
    ['keystore', 'import', file, '-', '--phrases', '--password-env', 'PW'],
    {
      input: 'the owner\n',
      env: { PW: 'own' },
    },
  );
  t.equal(imported.code, 0, imported.stderr);

  const absent = await start({}, '--set', `owner-address=${stranger.address}`);
  t.equal(absent.code, 1);
  t.match(
    absent.message,
    `Node owner address '${stranger.address}' does not exist in the keystore`,
  );
  const wrong = await start({ PLATFORM_NODE_OWNER_PASSWORD: 'wrong' });
  t.equal(wrong.code, 1);
  t.match(wrong.message, `Failed to get key for ${owner.address}: Wrong password`);
  const expected = await start({ PLATFORM_NODE_OWNER_PASSWORD_EMPTY: 'true' });
  t.equal(expected.code, 1);
  t.match(expected.message, `Failed to get key for ${owner.address}: Expected password`);
  const unasked = await start();
  t.equal(unasked.code, 61);
  t.match(
    unasked.message,
    /PLATFORM_NODE_OWNER_PASSWORD, or PLATFORM_NODE_OWNER_PASSWORD_EMPTY=true/,
  );

  writeFileSync(file, signed.replace('password = "wallet"', 'password = "other"'));
  const locked = await start();
  t.equal(locked.code, 1);
  t.match(locked.message, /^keystore .*: Wrong password of the wallet/m);
  writeFileSync(file, signed.replace(', password = "wallet"', ''));
  const silent = await start();
  t.equal(silent.code, 61);
  t.match(silent.message, /^No wallet password: set wallet\.password/m);
});
