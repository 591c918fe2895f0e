/**
 * Row family: the national family of cryptography beside the international one. Checks of signatures
 * in the node's own threads, one and all of them; import of a chain beside the checks of its own
 * family; hashes.
 */
import { availableParallelism } from 'node:os';
import { systemRandom } from '../../src/adapters/system.ts';
import { createVerifyThreads } from '../../src/adapters/verify/signature-threads.ts';
import type { SignatureCheck } from '../../src/base/ports/verifier.ts';
import { configuredFamily } from '../../src/crypto/families.ts';
import type { CryptoFamily } from '../../src/crypto/family.ts';
import type { Bench } from '../bench.ts';
import { generateChain } from '../chain/generate.ts';
import { exportChain, importer } from '../chain/importer.ts';
import type { Contender } from '../measure/contender.ts';
import { costRatioOf, figureOf, ratioOf, type Spread } from '../measure/rounds.ts';
import { atLeast, number, perSecond, type RowResult, ratioAtLeast } from '../report/result.ts';

const TRANSFERS = { full: 100_000, quick: 40_000 };
const MESSAGE_BYTES = 150;
const SENDERS = 50;
const CHECKS = 1000;
const HASHED_BYTES = 1024 * 1024;
const MEGABYTE = 1e6;

export async function families(bench: Bench): Promise<RowResult> {
  const notes: string[] = [];
  const contenders: Contender[] = [];
  const closing: (() => Promise<void>)[] = [];
  for (const platformCrypto of [false, true]) {
    const family = configuredFamily(platformCrypto);
    const dir = bench.folder(`family-${family.name}`);
    const transfers = TRANSFERS[bench.quick ? 'quick' : 'full'];
    const { folder } = await generateChain(dir, transfers, { platformCrypto });
    const all = availableParallelism();
    for (const [name, threads] of [
      ['one', 1],
      ['all', all],
    ] as const) {
      const { contender, close } = checks(`${family.title} ${name}`, family, threads);
      contenders.push(contender);
      closing.push(close);
    }
    const file = await exportChain(folder);
    contenders.push(importer(bench, folder, file, { name: `${family.title} import` }));
    contenders.push(hashes(`${family.title} hash`, family));
  }
  const rounds = await bench.measure(contenders, notes);
  for (const close of closing) await close();

  const rate = (name: string) => figureOf(rounds, name, (sample) => sample.perSecond);
  const line = (what: string, name: string, show: (spread: Spread | undefined) => string) => ({
    what,
    value: show(rate(`national ${name}`)),
    against: `international ${show(rate(`international ${name}`))}`,
    ratio: ratioOf(rounds, `national ${name}`, `international ${name}`),
    perCpu: costRatioOf(rounds, `national ${name}`, `international ${name}`),
  });
  const besideChecks = (title: string, threads: 'one' | 'all') => ({
    what: '',
    value: `${title} import`,
    against: `its own checks, ${threads} thread${threads === 'one' ? '' : 's'}`,
    ratio: ratioOf(rounds, `${title} import`, `${title} ${threads}`),
    perCpu: costRatioOf(rounds, `${title} import`, `${title} ${threads}`),
  });
  const cost = (name: string): string => {
    const each = figureOf(rounds, name, (sample) => sample.costPerOperation);
    return each === undefined ? 'not measured' : `${number(each.median * 1e6)} µs`;
  };
  const one = rate('national one')?.median;
  // As in row c: the first goals beside one thread, the last beside all of them.
  const ofOne = ratioOf(rounds, 'national import', 'national one');
  const ofAll = ratioOf(rounds, 'national import', 'national all');
  const hashed = rate('national hash');
  return {
    row: 'family',
    title: 'national cryptography',
    figures: [
      line('checks, one thread', 'one', perSecond),
      line('checks, all threads', 'all', perSecond),
      line('import with all checks', 'import', perSecond),
      besideChecks('national', 'one'),
      besideChecks('national', 'all'),
      besideChecks('international', 'one'),
      besideChecks('international', 'all'),
      line('secure hash of 1 MiB', 'hash', megabytes),
      {
        what: 'processor time',
        value: `${cost('national one')} a check, ${cost('national import')} a transfer`,
      },
      {
        what: '',
        value: `international ${cost('international one')}, ${cost('international import')}`,
      },
    ],
    goals: [
      { level: 'Good', conditions: [atLeast(1000, one, '/s'), ratioAtLeast(0.6, ofOne, 'one')] },
      {
        level: 'Strong',
        conditions: [atLeast(3000, one, '/s'), ratioAtLeast(0.8, ofOne, 'one')],
      },
      {
        level: 'Moonshot',
        conditions: [atLeast(5000, one, '/s'), ratioAtLeast(0.9, ofAll, 'all')],
      },
      { level: 'Good', conditions: [atLeast(50, hashed && hashed.median / MEGABYTE, 'MB/s hash')] },
    ],
    notes,
  };
}

const megabytes = (spread: Spread | undefined): string =>
  spread === undefined ? 'not measured' : `${number(spread.median / MEGABYTE)} MB/s`;

/** Batches of checks, one always waiting, as in an import. */
function checks(
  name: string,
  family: CryptoFamily,
  threads: number,
): { contender: Contender; close: () => Promise<void> } {
  const items = signed(family);
  const pool = createVerifyThreads(family, { threads });
  const run = async (ms: number) => {
    const start = performance.now();
    const cpu = process.cpuUsage();
    let done = 0;
    let next = pool.verify(items);
    while (performance.now() - start < ms) {
      const current = next;
      next = pool.verify(items);
      const verdicts = await current;
      if (!verdicts.every((good) => good)) throw new Error('a good signature is refused');
      done += items.length;
    }
    await next;
    done += items.length;
    const seconds = (performance.now() - start) / 1000;
    const { user, system } = process.cpuUsage(cpu);
    return { perSecond: done / seconds, costPerOperation: (user + system) / 1e6 / done };
  };
  return { contender: { name, run }, close: () => pool.close() };
}

function signed(family: CryptoFamily): SignatureCheck[] {
  const pairs = Array.from({ length: SENDERS }, () => family.generateKeyPair(systemRandom));
  return Array.from({ length: CHECKS }, (_, i) => {
    const { privateKey, publicKey } = pairs[i % SENDERS]!;
    const message = systemRandom.bytes(MESSAGE_BYTES);
    return { publicKey, message, signature: family.sign(privateKey, message, systemRandom) };
  });
}

/** Bytes per second. */
function hashes(name: string, family: CryptoFamily): Contender {
  const message = systemRandom.bytes(HASHED_BYTES);
  return {
    name,
    async run(ms) {
      const start = performance.now();
      const cpu = process.cpuUsage();
      let bytes = 0;
      for (; performance.now() - start < ms; bytes += HASHED_BYTES) family.secureHash(message);
      const { user, system } = process.cpuUsage(cpu);
      const costPerOperation = (user + system) / 1e6 / bytes;
      return { perSecond: (bytes / (performance.now() - start)) * 1000, costPerOperation };
    },
  };
}
