/**
 * Compiled scripts: reading, looking for checks of proofs, judging for an account and for an asset
 * with the refusal that shows everything, the text form, decompiling.
 */

import { ApiError } from '../../../../src/base/errors.ts';
import { BLOCK_SCRIPT_UNITS_MAX } from '../../../../src/block/block.ts';
import { scripts as accountScripts, assets } from '../../../../src/ledger/tables.ts';
import { print } from '../../../../src/rest-framework/answer.ts';
import { readingUnits } from '../../../../src/script/evaluation/charges.ts';
import {
  type Builtin,
  builtins,
  type Parameter,
} from '../../../../src/script/evaluation/functions.ts';
import { Meter, RUN_UNITS_MAX } from '../../../../src/script/evaluation/meter.ts';
import { programOf } from '../../../../src/script/evaluation/program.ts';
import { SCRIPT_BYTES_MAX } from '../../../../src/script/language/binary.ts';
import { nameProblem } from '../../../../src/script/language/declared-names.ts';
import { createScripts, type Script } from '../../../../src/script/script.ts';
import { signatureUses } from '../../../../src/script/signature-uses.ts';
import { scriptsOf } from '../../../../src/tx/scripts/known-scripts.ts';
import type { ScriptRuns } from '../../../../src/tx/scripts/script-runs.ts';
import type { Tx } from '../../../../src/tx/transaction.ts';
import { issue } from '../../../../src/tx/types/003-issue.ts';
import { massTransfer } from '../../../../src/tx/types/011-mass-transfer.ts';
import { data } from '../../../../src/tx/types/012-data.ts';
import { family } from '../../../family.ts';
import { actor, createHarness, scheme, WEST } from '../../../tx/rules/ledger-harness.ts';
import { dearToRead, dearToRun } from '../found/scripts.ts';
import type { Vocabulary } from './mutation.ts';
import type { Problem } from './problem.ts';
import type { Bounds, Recipe } from './recipe.ts';
import { scriptOf } from './script-notation.ts';

const { secureHash } = family;

// ── what a script can look at ────────────────────────────────────────────────────────────────

const [sender, recipient] = [actor(1), actor(2)];
const harness = await createHarness({
  balances: [[sender, 1_000_000n * WEST]],
  participants: [[sender, ['miner', 'permissioner', 'connection_manager', 'issuer']]],
});

/** Entries as long as a transaction may have them, under the longest keys. */
const ENTRIES = Array.from({ length: 100 }, (_, i) => ({
  key: `${i}`.padStart(100, 'k'),
  type: 'binary',
  value: new Uint8Array(1_300).fill(i),
}));
const largest = (timestamp: number): Tx =>
  harness.make(data, sender, {
    authorPublicKey: sender.publicKey,
    data: ENTRIES,
    fee: 5n * WEST,
    timestamp,
  });
const known = harness.send(data, sender, {
  authorPublicKey: sender.publicKey,
  data: ENTRIES,
  fee: 5n * WEST,
});
const asset = harness.send(issue, sender, {
  name: new Uint8Array(4).fill(65),
  description: new Uint8Array(0),
  quantity: 1_000_000_000n,
  decimals: 0,
  reissuable: true,
  script: undefined,
  fee: 2n * WEST,
});
await harness.mine();

const fromAccount = largest(harness.now);
const ofAsset = harness.make(massTransfer, sender, {
  assetId: asset.id,
  transfers: Array.from({ length: 100 }, () => ({ recipient: recipient.to, amount: 1n })),
  attachment: new Uint8Array(140),
  fee: 5n * WEST,
});

const hex = (bytes: Uint8Array): string => `0x${Buffer.from(bytes).toString('hex')}`;

/** Words that stand for what this chain has. */
export const words: Readonly<Record<string, string>> = {
  KNOWN: hex(known.id),
  ASSET: hex(asset.id),
  KEY: hex(sender.publicKey),
  ADDRESS: hex(sender.address),
};

// ── vocabulary ───────────────────────────────────────────────────────────────────────────────

const VALUES: Readonly<Record<string, string>> = {
  Int: '7',
  String: '"a"*1000',
  ByteVector: '0x01*1000',
  Boolean: 'true',
  Address: '(Address ADDRESS)',
};

function sample(parameter: Parameter): string {
  if (parameter.kind === 'list' || parameter.kind === 'LIST(T)') return '(. tx data)';
  if (parameter.kind === 'union') return '(Address ADDRESS)';
  return ('name' in parameter && VALUES[parameter.name]) || 'x';
}

const headerOf = ({ header }: Builtin): string =>
  typeof header === 'number' ? `#${header}` : header;

const calls = builtins.map(
  (builtin) => `(${[headerOf(builtin), ...builtin.parameters.map(sample)].join(' ')})`,
);
/** Every function with a hole for its first argument. */
const around = builtins.flatMap((builtin) =>
  builtin.parameters.length === 0
    ? []
    : [`(${[headerOf(builtin), '…', ...builtin.parameters.slice(1).map(sample)].join(' ')})`],
);

const vocabulary: Vocabulary = {
  parts: [
    ...calls,
    ...['x', 'y', 'tx', 'height', 'unit', 'a$i', 'a$p', '0', '1', '7', 'true', 'false'],
    ...['""', '"a"*4000', '0x', '0x01*4000', 'KNOWN', 'ASSET', 'KEY'],
    ...['(. tx bodyBytes)', '(. tx proofs)', '(. tx data)', '(. tx id)', '(. tx transfers)'],
    ...['(AssetPair x x)', '(DataEntry x x)', '(AssetPair a$p a$p)', '(#0 x y)', '(#0 x x)'],
    ...['(Address ADDRESS)', '(#1000 KNOWN)', '(. (#1000 KNOWN) data)', '(#401 (. tx proofs) 0)'],
    ...['(#500 (. tx bodyBytes) (#401 (. tx proofs) 0) KEY)', '(if true x y)', '(let x x x)'],
    '(Order x x x x x x x x x x x x x)',
  ],
  layers: [
    ...around,
    ...['(let x … x)', '(let x (AssetPair x x) …)', '(let y (AssetPair y y) …)', '(let x x …)'],
    ...['(let a$i (AssetPair a$p a$p) …)', '(let a$i (if true a$p a$p) …)', '(let a$i … a$i)'],
    ...['(if … true false)', '(if true … false)', '(if false true …)', '(if (#0 x y) true …)'],
    ...['(. … a)', '(. (AssetPair … x) amountAsset)', '(AssetPair … x)', '(AssetPair x …)'],
    ...['(let x (#203 x x) …)', '(let x (#300 x x) …)', '(let z $i …)', '(f …)', '(#0 … x)'],
    '(let $matcha tx (if (#1 $matcha "Order") true …))',
  ],
};

// ── seeds ────────────────────────────────────────────────────────────────────────────────────

const seeds: readonly Recipe[] = [
  { layers: [], core: 'true' },
  {
    layers: [
      ['(let a$i true …)', 1],
      ['(let a$i (if true a$p a$p) …)', 12],
    ],
    core: 'a$p',
  },
  {
    layers: [
      ['(if true … false)', 300],
      ['(let x true …)', 200],
    ],
    core: 'x',
  },
  { layers: [['(let x … x)', 400]], core: 'true' },
  { layers: [['(let z $i …)', 300]], core: '(#500 (. tx bodyBytes) z z)' },
  ...[...dearToRead, ...dearToRun].map(({ recipe }) => recipe),
];

// ── problems ─────────────────────────────────────────────────────────────────────────────────

/** Undefined for a text that is no script. */
function bytesOf(text: string): Uint8Array | undefined {
  try {
    return scriptOf(text, secureHash, words);
  } catch {
    return undefined;
  }
}

function readable(text: string): Script | undefined {
  const bytes = bytesOf(text);
  try {
    return bytes && createScripts(secureHash).read(bytes);
  } catch {
    return undefined;
  }
}

/** As texts, scripts are several times as long. */
const bounds: Bounds = {
  lengthMax: 12 * SCRIPT_BYTES_MAX,
  fits(text) {
    const bytes = bytesOf(text);
    return bytes !== undefined && bytes.length <= SCRIPT_BYTES_MAX + 5;
  },
};

const UNITS_LEAST = 300_000;
const BLOCK_BYTES = 1024 * 1024;
/** The least of a type 13 beside its script. */
const HOLDER_BYTES = 150;

/** The sender gets this script, which is known already. */
function guarded(bytes: Uint8Array): void {
  harness.now += 0;
  harness.draft.set(accountScripts, sender.address, bytes);
  scriptsOf(scheme).read(bytes);
}

/** Judges, and prints the refusal as an answer of the node. */
function judged(tx: Tx, scripts?: ScriptRuns): void {
  try {
    harness.apply(tx, scripts === undefined ? {} : { scripts });
  } catch (error) {
    if (error instanceof ApiError) print(error.body);
  }
}

const problem = (
  name: string,
  prepare: (script: Script, bytes: Uint8Array) => () => unknown,
): Problem => ({
  name: `script/${name}`,
  vocabulary,
  seeds,
  ...bounds,
  prepare(text) {
    const script = readable(text);
    return script && prepare(script, script.bytes);
  },
});

export const scriptProblems: readonly Problem[] = [
  {
    name: 'script/read',
    vocabulary,
    seeds,
    ...bounds,
    prepare(text) {
      const bytes = bytesOf(text);
      return bytes && (() => createScripts(secureHash).read(bytes));
    },
  },
  // What a block full of such scripts would take; what is no script ends the block.
  problem('readings', (script, bytes) => () => {
    createScripts(secureHash).read(bytes);
    const units = readingUnits(script, scheme.charges);
    return Math.min(BLOCK_SCRIPT_UNITS_MAX / units, BLOCK_BYTES / (bytes.length + HOLDER_BYTES));
  }),
  problem(
    'uses',
    ({ tree }) =>
      () =>
        signatureUses(tree),
  ),
  problem(
    'names',
    ({ tree }) =>
      () =>
        nameProblem(tree),
  ),
  problem(
    'program',
    ({ tree, version, bytes }) =>
      () =>
        programOf(tree, version, bytes.length),
  ),
  problem('text', (script) => () => script.text()),
  problem('decompile', (_script, bytes) => {
    const scripts = createScripts(secureHash);
    return () => scripts.decompile(bytes);
  }),
  problem('account', (_script, bytes) => {
    guarded(bytes);
    return () => judged(fromAccount);
  }),
  // What a block of such runs would take; nothing that hardly runs.
  problem('units', (_script, bytes) => {
    guarded(bytes);
    const asked: ((meter: Meter) => void)[] = [];
    judged(fromAccount, {
      begin: () => undefined,
      run: (_owner, run) => void asked.push(run),
      readNew: () => undefined,
    });
    return () => {
      const meter = new Meter(RUN_UNITS_MAX);
      try {
        for (const run of asked) run(meter);
      } catch {
        // A script that says no has worked as well.
      }
      return meter.used < UNITS_LEAST ? 0 : BLOCK_SCRIPT_UNITS_MAX / meter.used;
    };
  }),
  problem('asset', (_script, bytes) => {
    harness.now += 0;
    const row = harness.draft.get(assets, asset.id);
    harness.draft.set(assets, asset.id, { ...row!, script: bytes });
    scriptsOf(scheme).read(bytes);
    return () => judged(ofAsset);
  }),
];
