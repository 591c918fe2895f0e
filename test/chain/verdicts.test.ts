/** Every verdict of the generator, reached by a chain that receives only bytes. */
import { createHash } from 'node:crypto';
import t from 'tap';
import { decodeBlock } from '../../src/block/block.ts';
import { verdicts } from '../generators/blocks.ts';
import { faults } from '../generators/faults.ts';
import { createMemoryStore, type MemoryStore } from '../simulated/memory-store.ts';
import { newChain, scheme } from './chain-harness.ts';

const BLOCKS = 40;

function digest(store: MemoryStore): string {
  const hash = createHash('sha256');
  for (const { table, key, value } of store.dump()) {
    hash
      .update(`${table} ${key.length} `)
      .update(key)
      .update(value ?? '');
  }
  return hash.digest('hex');
}

t.test('blocks are judged as the generator says', async (t) => {
  const store = createMemoryStore();
  const at = await newChain(store);
  const counts = new Map<string, number>();
  let before = digest(store);
  for await (const { name, height, bytes, time, error } of verdicts(8, BLOCKS)) {
    counts.set(name, (counts.get(name) ?? 0) + 1);
    at.clock.time = time;
    const judge = async () => at.blockchain.append(decodeBlock(bytes, scheme));
    if (error === undefined) {
      await judge();
      t.equal(at.blockchain.tip().height, height);
      before = digest(store);
    } else {
      await t.rejects(judge(), { message: error }, `${height}: ${name}`);
      if (digest(store) !== before) t.fail(`${name} left a trace`);
    }
  }
  t.equal(counts.get('a valid block'), BLOCKS);
  for (const name of Object.keys(faults)) t.ok(counts.get(name), `${name}: ${counts.get(name)}`);
});

t.test('the same seed gives the same sequence', async (t) => {
  const sequence = async (): Promise<string[]> => {
    const names: string[] = [];
    for await (const { name, height, error } of verdicts(3, 3)) {
      names.push(`${height} ${name} ${error}`);
    }
    return names;
  };
  t.strictSame(await sequence(), await sequence());
});
