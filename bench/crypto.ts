/**
 * Cryptography alone: verification with and without the pool, hashes, Base58, addresses. Prints
 * one line per figure: name, per second, and for the pool the share of V2 and the cost per check
 * on the calling thread.
 */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createVerifyThreads } from '../src/adapters/verify/signature-threads.ts';
import { base58 } from '../src/base/base58.ts';
import { createAddresses } from '../src/crypto/address.ts';
import { createCurve25519 } from '../src/crypto/curve25519/curve25519-family.ts';
import { startLibsodium } from './denominators/libsodium.ts';

const RUN_MS = 2_000;
const ROUNDS = 5;
const IN_FLIGHT = 32;

const random = { bytes: (count: number) => Uint8Array.from(randomBytes(count)) };
const family = createCurve25519();
const items = Array.from({ length: 1_000 }, () => {
  const { privateKey, publicKey } = family.generateKeyPair(random);
  const message = random.bytes(200);
  return { publicKey, message, signature: family.sign(privateKey, message, random) };
});

const pairs: Record<string, number[]> = {};
const note = (name: string, figure: number): void => {
  pairs[name] = [...(pairs[name] ?? []), figure];
};
const libsodium = startLibsodium();
for (let round = 0; round < ROUNDS; round++) {
  note('V1', (await libsodium.one.run(RUN_MS)).perSecond);
  const v2 = (await libsodium.two.run(RUN_MS)).perSecond;
  note('V2', v2);
  const pool = createVerifyThreads(family, { threads: 2 });
  await pool.verify(items);
  for (const [name, run] of [
    ['pool, batches of 1000', batches],
    [`pool, ${IN_FLIGHT} single checks in flight`, singles],
  ] as const) {
    const cpu = mainThreadCpu();
    const start = performance.now();
    const done = await run(pool);
    const rate = (done / (performance.now() - start)) * 1000;
    note(name, rate);
    note(`${name}: share of V2`, rate / v2);
    note(`${name}: calling thread, µs per check`, (mainThreadCpu() - cpu) / done);
  }
  await pool.close();
}
await libsodium.stop();
for (const [name, figures] of Object.entries(pairs)) print(name, figures);

const samples = Array.from({ length: 1_000 }, () => random.bytes(64));
const loop = (name: string, action: (sample: Uint8Array, i: number) => unknown) => {
  const figures = Array.from({ length: ROUNDS }, () => rateOf(action));
  print(name, figures);
};
loop('fast hash, 64 bytes', (sample) => family.fastHash(sample));
loop('secure hash, 64 bytes', (sample) => family.secureHash(sample));
loop('sign', (sample) => family.sign(sample.subarray(0, 32), sample, random));
for (const size of [26, 32, 64]) {
  const texts = samples.map((sample) => base58.encode(sample.subarray(0, size)));
  loop(`Base58 encode ${size}`, (sample) => base58.encode(sample.subarray(0, size)));
  loop(`Base58 decode ${size}`, (_, i) => base58.decode(texts[i]!));
}
const cold = () => createAddresses(family, 84, 1);
let addresses = cold();
loop('address of a new key', (sample) => addresses.textsOf(sample.subarray(0, 32)).address);
addresses = createAddresses(family, 84);
const texts = samples.map((sample) => addresses.textsOf(sample.subarray(0, 32)).address);
loop('address of a known key', (sample) => addresses.textsOf(sample.subarray(0, 32)).address);
loop('known address text', (_, i) => addresses.fromText(texts[i]!));
const fresh = cold();
loop('new address text', (_, i) => fresh.fromText(texts[i]!));

async function batches(pool: ReturnType<typeof createVerifyThreads>): Promise<number> {
  const end = performance.now() + RUN_MS;
  let done = 0;
  let next = pool.verify(items);
  while (performance.now() < end) {
    const current = next;
    next = pool.verify(items);
    await current;
    done += items.length;
  }
  await next;
  return done + items.length;
}

async function singles(pool: ReturnType<typeof createVerifyThreads>): Promise<number> {
  const end = performance.now() + RUN_MS;
  let done = 0;
  const lane = async (first: number): Promise<void> => {
    for (let i = first; performance.now() < end; i += IN_FLIGHT) {
      const { publicKey, message, signature } = items[i % items.length]!;
      await pool.verifyOne(publicKey, message, signature);
      done += 1;
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, (_, i) => lane(i)));
  return done;
}

function rateOf(action: (sample: Uint8Array, i: number) => unknown): number {
  const start = performance.now();
  let done = 0;
  while (performance.now() - start < RUN_MS / 10) {
    samples.forEach(action);
    done += samples.length;
  }
  return (done / (performance.now() - start)) * 1000;
}

/** CPU time of this thread, µs; 0 where the system does not tell. */
function mainThreadCpu(): number {
  try {
    const [ns] = readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ');
    return Number(ns) / 1000;
  } catch {
    return 0;
  }
}

function print(name: string, figures: readonly number[]): void {
  const sorted = [...figures].sort((a, b) => a - b);
  const text = (value: number) =>
    value < 100 ? value.toFixed(2) : Math.round(value).toLocaleString('en');
  const [low, median, high] = [0, sorted.length >> 1, sorted.length - 1].map((i) =>
    text(sorted[i]!),
  );
  console.log(`${name.padEnd(64)} ${median!.padStart(10)}   (${low} – ${high})`);
}
