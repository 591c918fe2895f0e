// Who did what with a key stands in the audit log, whichever thread has judged it, and no secret does.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { AuditFile } from '../../src/adapters/audit-file.ts';
import { httpListener, native } from '../../src/adapters/http/listener.ts';
import { base58 } from '../../src/base/base58.ts';
import { utf8 } from '../../src/base/bytes.ts';
import { createHttpThreads } from '../../src/cli/workers/http-threads.ts';
import { family } from '../family.ts';
import { call } from '../rest-cases/runner.ts';
import { temporaryFolder } from '../system/e2e/dev-node.ts';
import { wholeNode } from './in-process.ts';
import { memoryLog } from './memory-ports.ts';

const SECRET = 'the secret of billing';
const PASSWORD = 'correct horse battery staple';
const FULL = 'rest-api.api-key-hash';

const entriesIn = (text: string): readonly Record<string, unknown>[] =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);

async function served(t: Test, threads: number) {
  const path = join(temporaryFolder(t), 'audit.log');
  const auditLog = new AuditFile({ path, bytesMax: 1e6, filesMax: 2 }, memoryLog());
  auditLog.start();
  const hash = base58.encode(family.secureHash(utf8(SECRET)));
  const scopes = '["sign", "peers"]';
  const whole = await wholeNode(t, {
    http: httpListener,
    passwords: [PASSWORD],
    set: [`rest-api.api-keys=[{"name":"billing","hash":"${hash}","scopes":${scopes}}]`],
    around: (ports) => ({
      ...ports,
      auditLog,
      restHttp: createHttpThreads(threads, ports.requestStop) ?? ports.http,
    }),
  });
  const url = `http://127.0.0.1:${whole.node.rest!.port}`;
  const post = (to: string, key: string, body = '') => {
    const headers = key === '' ? {} : { 'X-API-Key': key };
    return call('POST', url + to, { ...headers, 'Content-Type': 'application/json' }, body);
  };
  const entries = async () => {
    await whole.stop();
    await auditLog.stop();
    const text = readFileSync(path, 'utf8');
    const refused = readFileSync(`${path}.refusals`, 'utf8');
    return { text: text + refused, lines: entriesIn(text), refused: entriesIn(refused) };
  };
  return { whole, post, entries };
}

for (const threads of [0, 2]) {
  const skip = threads > 0 && native === undefined && 'there are no threads without the addon';
  t.test(`with ${threads} threads`, { skip }, async (t) => {
    const { whole, post, entries } = await served(t, threads);
    const [owner] = whole.accounts;
    const sign = `/addresses/signText/${owner.text}`;
    const body = JSON.stringify({ message: 'text', password: PASSWORD });
    await post(sign, SECRET, body);
    await post(`/addresses/signText/${owner.text}`, whole.apiKey, '{');
    await post('/privacy/forceSync', SECRET);
    await post(sign, 'of nobody');
    await post(sign, '');
    await post('/utils/reload-wallet', '');
    await post('/utils/hash/fast', '', 'a public method');
    const { text, lines, refused } = await entries();
    const who = { address: '127.0.0.1', method: 'POST' };
    const signing = { ...who, path: sign };
    t.match(
      lines.map(({ time, ...line }) => line),
      [
        { key: 'billing', ...signing, status: 200 },
        { key: FULL, ...signing, status: 400 },
        { ...who, path: '/utils/reload-wallet', status: 200 },
      ],
    );
    t.match(
      refused.map(({ time, ...line }) => line),
      [
        { ...who, path: '/privacy/forceSync', status: 403, why: /billing.*privacy/ },
        { ...who, path: '/addresses/signText/:address', status: 403, why: /not correct/ },
        { ...who, path: '/addresses/signText/:address', status: 403, why: /No API key/ },
      ],
    );
    t.strictSame([lines.length, refused.length], [3, 3], 'one line each');
    t.notOk('key' in lines[2]!, 'a program of this machine needs no key');
    for (const line of [...lines, ...refused]) t.match(line['time'], /^\d{4}-\d\d-\d\dT/);
    for (const secret of [SECRET, PASSWORD, whole.apiKey, 'of nobody']) {
      t.notOk(text.includes(secret));
    }
  });
}
