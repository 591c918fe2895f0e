// A node with its own load, above the shim: every promise is recorded when it is given.
//   node node.ts CONFIG PORT BLOCKS LOAD
// LOAD: [id, body] of transfers, of which the first funds the senders of the others.
import { createHash } from 'node:crypto';
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { files } from '../../../../src/adapters/files.ts';
import { filesShelf } from '../../../../src/adapters/private-store/files-shelf.ts';
import { verifiedStore } from '../../../../src/adapters/private-store/verified.ts';
import { encodeHex } from '../../../../src/base/hex.ts';
import { loadConfig } from '../../../../src/cli/config-file.ts';
import { runNode } from '../../../../src/cli/run-node.ts';
import { PROMISES } from './disk.ts';

const [path = '', port = '', blocks = '', load = ''] = process.argv.slice(2);
const root = process.env['POWER_ROOT'] ?? '';
const promises = openSync(join(root, PROMISES), 'a');
const promise = (...words: readonly (string | number)[]): void =>
  void writeSync(promises, `${words.join(' ')}\n`);

const { config } = await loadConfig(path, { set: [`rest-api.port=${port}`] });
const node = await runNode(config);
const { blockchain } = node;
let over = false;
let last = Number.POSITIVE_INFINITY;
blockchain.listen({
  block({ tip }) {
    promise('block', tip.height, encodeHex(blockchain.stateHash(tip.height)!));
    over = tip.height >= last;
  },
});

const bodies: [string, string][] = JSON.parse(readFileSync(load, 'utf8'));

/** Sends the next transfer. */
async function send(): Promise<void> {
  const [id = '', body = ''] = bodies.shift() ?? [];
  const answer = await fetch(`http://127.0.0.1:${port}/transactions/broadcast`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  });
  const text = await answer.text();
  if (answer.status !== 200) throw new Error(text);
  promise('tx', id);
}

async function transfers(): Promise<void> {
  while (!over && bodies.length > 0) await send();
}

async function smallFiles(): Promise<void> {
  for (let n = 1; !over; n++) {
    files.replace(join(root, 'data', 'small'), Buffer.from(`${n} `.repeat(500)));
    promise('file', n);
    await blockEnd();
  }
}

async function privateData(): Promise<void> {
  const store = verifiedStore(filesShelf(join(root, 'data', 'private')), node.log);
  const policyId = new Uint8Array(32).fill(7);
  for (let n = 1; !over; n++) {
    const data = Buffer.from(`data ${n} `.repeat(1000));
    const hash = createHash('sha256').update(data).digest();
    const texts = {
      type: 'file',
      filename: `${n}`,
      size: `${data.length}`,
      author: '',
      comment: '',
    };
    const item = { policyId, hash, sender: new Uint8Array(26), timestamp: 0n, ...texts };
    await store.write(
      item,
      (async function* () {
        yield data;
      })(),
    );
    promise('private', n);
    await blockEnd();
  }
}

/** Resolves with the next block. */
const blockEnd = (): Promise<void> =>
  new Promise((resolve) => {
    const forget = blockchain.listen({
      block() {
        forget();
        resolve();
      },
    });
  });

await send();
await blockEnd();
await blockEnd();
last = blockchain.tip().height + Number(blocks);
await Promise.all([transfers(), transfers(), smallFiles(), privateData()]);
closeSync(promises);
await node.stop();
process.exit(0);
