/**
 * `node bench/measure/keccak.ts [path of hash-wasm]`: Keccak-256 of the node, and of hash-wasm where
 * it is installed (`npm install --no-save hash-wasm`), in MB a second of one thread.
 */
import { createHash, randomBytes } from 'node:crypto';
import { createKeccak256 } from '../../src/crypto/keccak.ts';

interface HashWasm {
  createKeccak(bits: 256): Promise<{
    init(): { update(data: Uint8Array): { digest(kind: 'binary'): Uint8Array } };
  }>;
}

type Hash = (message: Uint8Array) => Uint8Array;

const BYTES_IN_ALL = 16 * 1024 * 1024;
const CALLS_MAX = 100_000;
const RUNS = 3;

const [place = 'hash-wasm'] = process.argv.slice(2);
const { createKeccak }: HashWasm = await import(place);
const theirs = await createKeccak(256);
const hashes: Readonly<Record<string, Hash>> = {
  ours: createKeccak256(),
  'hash-wasm': (message) => theirs.init().update(message).digest('binary'),
};

for (const bytes of [32, 136, 465, 1024, 32 * 1024, 1024 * 1024]) {
  const message = randomBytes(bytes);
  const results = Object.entries(hashes).map(([name, hash]) => ({
    name,
    rate: rate(hash, message),
    digest: createHash('sha256').update(hash(message)).digest('hex'),
  }));
  const [first, second] = results;
  if (first?.digest !== second?.digest) throw new Error(`they differ at ${bytes} bytes`);
  const text = results.map(({ name, rate }) => `${name} ${rate.toFixed(1)} MB/s`).join(', ');
  console.log(
    `${bytes} bytes: ${text}, ratio ${((first?.rate ?? 0) / (second?.rate ?? 1)).toFixed(2)}`,
  );
}

/** The best of some runs. */
function rate(hash: Hash, message: Uint8Array): number {
  const calls = Math.min(CALLS_MAX, Math.ceil(BYTES_IN_ALL / message.length));
  const times = Array.from({ length: RUNS }, () => {
    const started = performance.now();
    for (let i = 0; i < calls; i++) hash(message);
    return performance.now() - started;
  });
  return (calls * message.length) / 1e3 / Math.min(...times);
}
