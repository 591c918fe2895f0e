/** Writes confidential data until it is killed or its disk is full. The tests start it. */
import { randomBytes } from 'node:crypto';
import { readdirSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { filesShelf } from '../../src/adapters/private-store/files-shelf.ts';
import { verifiedStore } from '../../src/adapters/private-store/verified.ts';
import { base58 } from '../../src/base/base58.ts';
import { PrivateStoreError } from '../../src/base/ports/private-store.ts';
import { inPieces, itemOf } from '../compliance/private-store.ts';
import { memoryLog } from '../node/memory-ports.ts';

const [what, folder] = process.argv.slice(2) as [string, string];
const store = verifiedStore(filesShelf(folder), memoryLog());
const say = (text: string): void => void writeSync(1, `${text}\n`);

async function fillDisk(): Promise<void> {
  // Together with the refused write comes a signal, which the test runner takes for the end.
  process.on('SIGXFSZ', () => {});
  const [large, small] = [randomBytes(8_000_000), randomBytes(10_000)];
  const refused = itemOf(large);
  await store.write(refused, inPieces(large)).catch((cause: unknown) => {
    if (cause instanceof PrivateStoreError) say(`${cause.kind} ${cause.answer.code}`);
  });
  say(`unfinished ${readdirSync(join(folder, '.unfinished')).length}`);
  const taken = itemOf(small);
  await store.write(taken, inPieces(small));
  say(`stored ${(await store.read(taken.policyId, taken.hash)) !== undefined}`);
  say(`other ${(await store.info(refused.policyId, refused.hash)) !== undefined}`);
}

async function writeForEver(): Promise<never> {
  for (;;) {
    const all = [20_000, 3_000_000, 500_000].map((length) => randomBytes(length));
    await Promise.all(
      all.map(async (data) => {
        // Another policy than those of earlier processes, which have the same seed.
        const item = itemOf(data, randomBytes(32));
        await store.write(item, inPieces(data));
        say(`${base58.encode(item.policyId)} ${base58.encode(item.hash)}`);
      }),
    );
  }
}

await (what === 'full' ? fillDisk() : writeForEver());
