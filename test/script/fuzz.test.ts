/**
 * Mutated binaries and sources: each is refused with a text or gives a script that runs to an
 * outcome, soon. SCRIPT_BINARIES and SCRIPT_SOURCES set how many (`npm run test:scripts`).
 */
import { readFileSync } from 'node:fs';
import t from 'tap';
import { generalHashes } from '../../src/crypto/general-hashes.ts';
import type { Environment } from '../../src/script/evaluation/environment.ts';
import { Meter, RUN_UNITS_MAX } from '../../src/script/evaluation/meter.ts';
import { ScriptError } from '../../src/script/language/tree.ts';
import {
  BUY,
  caseObject,
  EvaluationFailure,
  UNIT,
  type Value,
} from '../../src/script/language/values.ts';
import { createScripts, type Script } from '../../src/script/script.ts';
import { signatureUses } from '../../src/script/signature-uses.ts';
import type { VectorFile } from '../../src/script/vector-file.ts';
import { family } from '../generators/network.ts';
import { Rng } from '../generators/random.ts';

const BINARIES = Number(process.env['SCRIPT_BINARIES'] ?? 30_000);
const SOURCES = Number(process.env['SCRIPT_SOURCES'] ?? 5_000);
const SEED = Number(process.env['SEED'] ?? 14);
/** A machine that does other work too takes its time; a hang takes for ever. */
const SOON_MS = 5000;

t.setTimeout(7_200_000);

const { scripts: cases = [] } = JSON.parse(
  readFileSync(new URL('../vectors/scripts.json', import.meta.url), 'utf8'),
) as VectorFile;
const sources = cases.map(({ source }) => source);
const binaries = cases.flatMap(({ base64 }) =>
  base64 === undefined ? [] : [Uint8Array.from(Buffer.from(base64, 'base64'))],
);

const somebody = caseObject('Address', { bytes: new Uint8Array(26).fill(1) });
const tx = caseObject('TransferTransaction', {
  feeAssetId: UNIT,
  amount: 5000n,
  assetId: UNIT,
  recipient: somebody,
  attachment: new Uint8Array(3),
  id: new Uint8Array(32),
  fee: 1n,
  timestamp: 1n,
  version: 2n,
  sender: somebody,
  senderPublicKey: new Uint8Array(32),
  bodyBytes: new Uint8Array(100),
  proofs: Array.from({ length: 8 }, () => new Uint8Array(64)),
});
const entries: readonly Value[] = [5n, true, 'text', new Uint8Array(3), BUY];
const env: Environment = {
  chainId: 84,
  hashes: { ...generalHashes, secureHash: family.secureHash, charges: family.charges },
  height: () => 100n,
  tx: () => tx,
  verify: () => false,
  addressOfAlias: (alias) => (alias.length > 4 ? new Uint8Array(26) : undefined),
  data: (_address, key) => entries[key.length % 7],
  balance: () => 7n,
  isAddress: (bytes) => bytes.length === 26,
  lookUp: (id) =>
    id.length === 32
      ? { size: 300, read: () => ({ elements: 3, addresses: 1, height: 7, record: () => tx }) }
      : undefined,
};

interface Counts {
  refused: number;
  ended: number;
}

/** Anything but a script or a ScriptError, and anything but an outcome, fails the test. */
function tryOne(make: () => Script, counts: Counts): Script | undefined {
  let script: Script;
  try {
    script = make();
  } catch (error) {
    if (!(error instanceof ScriptError)) throw error;
    counts.refused++;
    return undefined;
  }
  const { result, variables } = script.program.run(env, new Meter(RUN_UNITS_MAX));
  variables();
  script.text();
  signatureUses(script.tree);
  if (result === undefined) throw new Error('no outcome');
  if (result instanceof EvaluationFailure && /call stack/.test(result.message)) throw result;
  counts.ended++;
  return script;
}

function mutatedBytes(rng: Rng): Uint8Array {
  let bytes = [...rng.pick(binaries).subarray(0, -4)];
  for (let i = rng.between(1, 4); i > 0; i--) {
    const at = rng.below(bytes.length);
    const other = rng.pick(binaries);
    const from = rng.below(other.length);
    const part = other.subarray(from, from + rng.below(60));
    switch (rng.below(5)) {
      case 0:
        bytes[at] = rng.below(256);
        break;
      case 1:
        bytes[at] = rng.below(11);
        break;
      case 2:
        bytes.splice(at, rng.below(20));
        break;
      case 3:
        bytes.splice(at, rng.below(20), ...part);
        break;
      default:
        bytes = bytes.map((byte) => (rng.chance(50) ? byte ^ (1 << rng.below(8)) : byte));
    }
    if (bytes.length === 0) bytes = [1];
  }
  const content = Uint8Array.from(bytes);
  return Uint8Array.from([...content, ...family.secureHash(content).subarray(0, 4)]);
}

const WORDS =
  'let if then else match case tx height unit true ( ) { } [ ] => == && || ! - + : ; . , " \\u # \n _ 1 base58\' 9223372036854775807'.split(
    ' ',
  );

function mutatedSource(rng: Rng): string {
  let source = rng.pick(sources);
  for (let i = rng.between(1, 5); i > 0; i--) {
    const at = rng.below(source.length + 1);
    const other = rng.pick(sources);
    const from = rng.below(other.length + 1);
    const part = rng.chance(2) ? rng.pick(WORDS) : other.slice(from, from + rng.below(40));
    source = source.slice(0, at) + part + source.slice(at + (rng.chance(2) ? rng.below(10) : 0));
  }
  return source;
}

/** The longest of all attempts, in milliseconds. */
function repeat(count: number, attempt: () => void): number {
  let longest = 0;
  for (let i = 0; i < count; i++) {
    const from = performance.now();
    attempt();
    longest = Math.max(longest, performance.now() - from);
  }
  return longest;
}

t.test('mutated binaries', async (t) => {
  const rng = new Rng(SEED);
  const counts: Counts = { refused: 0, ended: 0 };
  // Without a cache, so that every binary is read.
  const longest = repeat(BINARIES, () => {
    const bytes = mutatedBytes(rng);
    tryOne(() => createScripts(family.secureHash).read(bytes), counts);
  });
  t.comment(`${counts.refused} refused, ${counts.ended} ran, at most ${longest.toFixed(1)} ms`);
  t.ok(counts.refused > 0 && counts.ended > 0);
  t.ok(longest < SOON_MS);
});

t.test('mutated sources', async (t) => {
  const rng = new Rng(SEED);
  const counts: Counts = { refused: 0, ended: 0 };
  const longest = repeat(SOURCES, () => {
    const source = mutatedSource(rng);
    const scripts = createScripts(family.secureHash);
    const context = rng.chance(4) ? 'asset' : 'account';
    const script = tryOne(() => scripts.compile(source, context), counts);
    if (script === undefined) return;
    const again = scripts.compile(scripts.decompile(script.bytes), context);
    if (Buffer.compare(again.bytes, script.bytes) !== 0) throw new Error(`other: ${source}`);
  });
  t.comment(`${counts.refused} refused, ${counts.ended} ran, at most ${longest.toFixed(1)} ms`);
  t.ok(counts.refused > 0 && counts.ended > 0);
  t.ok(longest < SOON_MS);
});
