// A verdict on proofs stands for a check. These rules keep it so: who may make one, who may read one
// from a thread, and who may leave signatures out. The types forbid the rest (at the end).
import t from 'tap';
import ts from 'typescript';
import { PoolEntry } from '../../src/mempool/entries/entry.ts';
import { NOTHING_SPENT } from '../../src/mempool/entries/spending.ts';
import type { Draft } from '../../src/mempool/packer.ts';
import { UNJUDGED } from '../../src/tx/judge-proofs.ts';
import { type Findings, ProofVerdicts } from '../../src/tx/proof-verdicts.ts';
import type { Tx, TxType } from '../../src/tx/transaction.ts';
import { transfer } from '../../src/tx/types/004-transfer.ts';
import { files, parse, read } from './sources.ts';

const sources = files('src');

/** Name → the files that may use it, beside the one that declares it. */
const users: Readonly<Record<string, readonly string[]>> = {
  // What threads of this process say.
  readVerdicts: ['src/rest/broadcast-offload.ts'],
  writeVerdicts: ['src/rest/broadcast-offload.ts'],
  // The one judge, and the one pipeline.
  judgeProofs: ['src/tx/pipeline.ts'],
  UNJUDGED: ['src/tx/pipeline.ts'],
  // Questions about the state alone, and blocks that this node has verified before.
  applyUnjudged: ['src/chain/apply/block-draft.ts', 'src/mempool/admission/trial.ts'],
  tryUnjudged: [
    'src/mempool/admission/admission.ts',
    'src/mempool/pool-chain.ts',
    'src/mempool/admission/trial.ts',
  ],
  replay: ['src/chain/apply/block-applier.ts', 'src/chain/apply/block-draft.ts'],
  // No part of the node takes the word of a file: it is for measurements and tests.
  replayBlocks: [],
};

const declaredIn: Readonly<Record<string, string>> = {
  readVerdicts: 'src/tx/proof-verdicts.ts',
  writeVerdicts: 'src/tx/proof-verdicts.ts',
  judgeProofs: 'src/tx/judge-proofs.ts',
  UNJUDGED: 'src/tx/judge-proofs.ts',
  applyUnjudged: 'src/tx/pipeline.ts',
  replayBlocks: 'src/chain/import/import-blocks.ts',
};

/** The functions that verify signatures for others: on threads, or at once. */
const VERIFIERS = 'src/adapters/verify/signature-pool.ts';

const TX = { def: transfer as unknown as TxType, timestamp: 1, bytes: new Uint8Array(3) } as Tx;
const TEXTS = { key: 'id', sender: 'a', bytesHash: undefined };

t.test('only these leave signatures out, or take the word of others for them', async (t) => {
  const names = Object.keys(users);
  const identifiers = new Map(
    sources.filter((file) => mayHave(file, names)).map((file) => [file, identifiersOf(file)]),
  );
  for (const [name, allowed] of Object.entries(users)) {
    const found = sources.filter(
      (file) => file !== declaredIn[name] && identifiers.get(file)?.has(name),
    );
    t.strictSame(found.sort(), [...allowed].sort(), name);
  }
});

t.test('no type is forced, and no verifier is made up', async (t) => {
  const forced = sources.filter((file) => /\bas (unknown as )?ProofVerdicts\b/.test(read(file)));
  t.strictSame(forced, []);
  const reflecting = sources.filter((file) =>
    /ProofVerdicts\.prototype|Object\.create\(Proof/.test(read(file)),
  );
  t.strictSame(reflecting, []);
  t.strictSame(sources.filter(makesVerifier), [VERIFIERS]);
});

/** False where no identifier has one of these names: no text has it, nor an escape that stands for it. */
function mayHave(file: string, names: readonly string[]): boolean {
  const text = read(file);
  return text.includes('\\u') || names.some((name) => text.includes(name));
}

function identifiersOf(file: string): Set<string> {
  const names = new Set<string>();
  const visit = (node: ts.Node): void => {
    if (ts.isIdentifier(node)) names.add(node.text);
    ts.forEachChild(node, visit);
  };
  visit(parse(file));
  return names;
}

/** True where an object with a function `verifyOne` is made; wrappers that pass it on count, too. */
function makesVerifier(file: string): boolean {
  if (!mayHave(file, ['verifyOne'])) return false;
  let found = false;
  const visit = (node: ts.Node): void => {
    const isMade =
      (ts.isMethodDeclaration(node) || ts.isPropertyAssignment(node)) &&
      ts.isIdentifier(node.name) &&
      node.name.text === 'verifyOne';
    found ||= isMade;
    ts.forEachChild(node, visit);
  };
  visit(parse(file));
  return found;
}

t.test('the types forbid what looks like a verdict', async (t) => {
  const bytes = new Uint8Array(3);
  const good: Findings = { own: [true], carried: [] };
  const looksRight = {
    size: 3,
    bytes,
    holds: () => true,
    about: () => good,
    isComplete: true,
    learn: () => {},
  };
  // @ts-expect-error An object of this form is no verdict.
  const forged: ProofVerdicts = looksRight;
  // @ts-expect-error Findings are not, either.
  const found: ProofVerdicts = good;
  // @ts-expect-error Nor is the mark that signatures are left out: it gets into no pool …
  const entry = () => new PoolEntry(TX, TEXTS, UNJUDGED, NOTHING_SPENT, false);
  // @ts-expect-error … and into no block.
  const packed = (draft: Draft) => draft.add(TX, UNJUDGED);
  t.notOk(forged instanceof ProofVerdicts || found instanceof ProofVerdicts);
  t.throws(entry);
  t.type(packed, 'function');
  const made = new PoolEntry(TX, TEXTS, new ProofVerdicts(TX), NOTHING_SPENT, false);
  t.same(made.verdicts.about(TX), { own: [], carried: [] }, 'what can be made says nothing');
});
