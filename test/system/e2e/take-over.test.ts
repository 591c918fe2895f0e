// Keys, the password of the wallet and accounts change while the node runs: the operator edits the
// configuration and sends SIGHUP. No request with a key that goes on is refused meanwhile.
import { existsSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { native } from '../../../src/adapters/http/listener.ts';
import { type JsonObject, parse } from '../../../src/base/json/json.ts';
import { run } from '../../cli/run.ts';
import { startNode, temporaryFolder } from './dev-node.ts';
import { API_KEY, keyHash, networkFolder, OWNER, WALLET_PASSWORD } from './network-folder.ts';
import { eventually } from './process.ts';

const NEXT = 'the next key of all';
const named = (name: string): string =>
  `{ name = ${name}, hash = "${keyHash(`of ${name}`)}", scopes = [sign] }`;

for (const threads of [0, 1]) {
  const skip = threads > 0 && native === undefined && 'there are no threads without the addon';
  t.test(`with ${threads} threads`, { skip }, async (t) => {
    const folder = await networkFolder(t, { more: `rest-api.api-keys = [${named('old')}]` });
    const { config } = folder;
    const audit = join(temporaryFolder(t), 'audit.log');
    const node = await startNode(t, config, {
      apiKey: API_KEY,
      set: [`rest-api.threads=${threads}`, `rest-api.audit-log.path=${audit}`],
    });
    const sign = async (key: string): Promise<number> => {
      const answer = await fetch(`${node.rest.url}/addresses/signText/${OWNER.address}`, {
        method: 'POST',
        headers: { 'X-API-Key': key },
        body: JSON.stringify({ message: 'text' }),
      });
      await answer.text();
      return answer.status;
    };
    const entries = (event: string): JsonObject[] =>
      node
        .log()
        .split('\n')
        .filter((line) => line.startsWith('{'))
        .map((line) => parse(line) as JsonObject)
        .filter((line) => line['event'] === event);
    let reloads = 0;
    const hangUp = async (): Promise<void> => {
      process.kill(node.pid, 'SIGHUP');
      reloads += 1;
      await eventually('the reload', () => entries('settings.reloaded')[reloads - 1]);
    };
    const all = async () => [
      await sign(API_KEY),
      await sign('of old'),
      await sign('of new'),
      await sign(NEXT),
    ];
    t.strictSame(await all(), [200, 200, 403, 403]);

    renameSync(audit, `${audit}.old`);
    folder.edit(named('old'), `${named('old')}, ${named('new')}`);
    await hangUp();
    await eventually('the new key', async () => (await sign('of new')) === 200 || undefined);
    t.strictSame(await all(), [200, 200, 200, 403], 'the old key goes on beside the new one');
    await eventually('another audit log', () => existsSync(audit) || undefined);
    folder.edit(`${named('old')}, `, '');
    folder.edit(keyHash(API_KEY), keyHash(NEXT));
    await hangUp();
    await eventually('the last key', async () => (await sign(NEXT)) === 200 || undefined);
    t.strictSame(await all(), [403, 403, 200, 200]);

    const changed = await run(['keystore', 'passwd', config, '--new-password-env', 'NEXT'], {
      env: { NEXT: 'of the wallet, anew' },
    });
    t.equal(changed.code, 0, changed.stderr);
    process.kill(node.pid, 'SIGHUP');
    await eventually('the refusal', () => entries('keystore.reload.failed')[0]);
    t.equal(await sign(NEXT), 200, 'the keys in memory go on');
    reloads += 1;
    folder.edit(WALLET_PASSWORD, 'of the wallet, anew');
    await hangUp();
    t.equal(await sign(NEXT), 200);

    folder.edit('fatal-timeout = 5m', 'fatal-timeout = 6m');
    await hangUp();
    t.match(entries('settings.need-restart').at(-1), { settings: ['ntp.fatal-timeout'] });
    folder.edit(keyHash(NEXT), 'The-S3cret-itself');
    process.kill(node.pid, 'SIGHUP');
    await eventually('the refusal', () => entries('settings.reload-failed')[0]);
    t.equal(await sign(NEXT), 200, 'a wrong configuration changes nothing');
    t.notMatch(node.log(), /of the wallet, anew|of new|the next key|S3cret/);
  });
}
