// Policies and confidential data from the command line, on a running node.
import { existsSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { startDevNode, temporaryFolder } from '../../../system/e2e/dev-node.ts';
import { type Run, run } from '../../run.ts';

type Json = Record<string, unknown>;

t.test('a policy and its data', async (t) => {
  const node = await startDevNode(t, { round: '500ms' });
  const folder = temporaryFolder(t);
  const [owner, other] = [node.accounts[0]!, node.accounts[1]!];
  const asker =
    (apiKey: string) =>
    (...args: string[]) =>
      run(['policy', ...args], {
        env: { PLATFORM_NODE_URL: node.rest.url, PLATFORM_NODE_API_KEY: apiKey },
      });
  const [openly, privately] = [asker(node.apiKey), asker(node.privacyApiKey)];
  const printed = ({ code, stdout, stderr }: Run): Json => {
    t.equal(code, 0, stderr);
    return JSON.parse(stdout) as Json;
  };
  const signed = ['--sender', owner.address, '--wait', '60'];

  const made = printed(
    await openly('create', '--name', 'files', '--recipients', owner.address, ...signed),
  );
  t.match(made, { type: 112, policyName: 'files', owners: [owner.address], height: Number });
  const id = String(made['id']);
  t.match(printed(await openly('list')), [{ policyId: id }]);
  const others = ['--recipients', owner.address, '--owners', other.address, ...signed];
  t.match(printed(await openly('create', '--name', 'of others', ...others)), {
    owners: [other.address],
    height: Number,
  });

  const file = join(folder, 'contract.txt');
  writeFileSync(file, 'the text of a contract');
  const sent = printed(await privately('send-data', id, file, '--comment', 'a draft', ...signed));
  t.match(sent, { type: 114, policyId: id, height: Number });
  const hash = String(sent['dataHash']);
  t.match(printed(await openly('show', id)), { policyName: 'files', hashes: [hash] });
  t.match(printed(await privately('get-info', hash)), {
    info: { filename: 'contract.txt', size: '22', comment: 'a draft' },
  });

  t.equal((await privately('get-data', hash)).stdout, 'the text of a contract');
  const copy = join(folder, 'copy.txt');
  t.equal((await privately('get-data', hash, '--policy', id, '--output', copy)).code, 0);
  t.equal(readFileSync(copy, 'utf8'), 'the text of a contract');
  t.equal(statSync(copy).mode & 0o777, 0o600);
  const again = await privately('get-data', hash, '--output', copy);
  t.equal(again.code, 1, 'what is there is not overwritten');
  t.match(again.stderr, /copy\.txt cannot be written/);
  const elsewhere = join(folder, 'nothing.txt');
  t.equal((await openly('get-data', hash, '--output', elsewhere)).code, 1);
  t.notOk(existsSync(elsewhere), 'the general key opens no data');

  t.match(printed(await privately('sync', id)), { result: 'success', forceRestarted: 0 });
  const add = ['--add', '--owners', other.address, ...signed];
  t.match(printed(await openly('update', id, ...add)), { type: 113, opType: 'add' });
  t.equal((await openly('update', id, '--owners', other.address, ...signed)).code, 2);
  const twice = await privately('send-data', id, file, ...signed);
  t.equal(twice.code, 1);
  t.match(twice.stderr, /was added earlier/);
});

t.test('a file that is longer than an item may be', async (t) => {
  const folder = temporaryFolder(t);
  for (const bytes of [20 * 1024 * 1024 + 1, 600 * 1024 * 1024]) {
    const file = join(folder, String(bytes));
    writeFileSync(file, '');
    truncateSync(file, bytes);
    const args = ['send-data', 'a policy', file, '--sender', 'somebody'];
    const { code, stderr } = await run(['policy', ...args], {
      env: { PLATFORM_NODE_URL: 'http://127.0.0.1:1', PLATFORM_NODE_API_KEY: 'a key' },
    });
    t.equal(code, 1);
    t.equal(stderr.trim(), `${file} has ${bytes} bytes, an item at most 20971520`);
  }
});
