/**
 * Scripts that make the node work as much as their size permits: trees for the reader, the estimate
 * and all that looks at a tree, and sources for the compiler. They are the dearest of their kind
 * that a search over such forms found.
 */
import { SCRIPT_BYTES_MAX, writeScript } from '../../src/script/language/binary.ts';
import { TRUE, type Tree } from '../../src/script/language/tree.ts';
import { SOURCE_LENGTH_MAX } from '../../src/script/script.ts';
import { family } from './network.ts';

const { secureHash } = family;

const ref = (name: string): Tree => ({ op: 'ref', name });
const block = (name: string, value: Tree, body: Tree): Tree => ({ op: 'block', name, value, body });
const choice = (test: Tree, yes: Tree, no: Tree): Tree => ({ op: 'if', test, yes, no });
const call = (header: number | string, args: readonly Tree[]): Tree => ({
  op: 'call',
  header,
  args,
});

/** The shortest texts that differ. */
function nameOf(number: number): string {
  const letter = String.fromCharCode(0x21 + (number % 90));
  return number < 90 ? letter : nameOf(Math.floor(number / 90)) + letter;
}

/** `innermost` in as many layers. */
function nested(count: number, innermost: Tree, layer: (inner: Tree, i: number) => Tree): Tree {
  let tree = innermost;
  for (let i = count - 1; i >= 0; i--) tree = layer(tree, i);
  return tree;
}

const declared = (count: number, body: Tree): Tree =>
  nested(count, body, (inner, i) => block(nameOf(i), TRUE, inner));

const used = (count: number): Tree[] => Array.from({ length: count }, (_, i) => ref(nameOf(i)));

/** The value is estimated as often as 2 to the power of `times`. */
export function doubled(times: number, value: Tree): Tree {
  const last = ref(`~${times}`);
  const lines = nested(times, last, (inner, i) =>
    block(`~${i + 1}`, choice(TRUE, ref(`~${i}`), ref(`~${i}`)), inner),
  );
  return block('~0', value, lines);
}

/** As deep as a script can be. */
function deepest(layer: (inner: Tree) => Tree): Tree {
  const shallow = binaryOf(TRUE).length;
  const bytesOfLayer = binaryOf(layer(TRUE)).length - shallow;
  const layers = Math.floor((SCRIPT_BYTES_MAX - shallow) / bytesOfLayer);
  return nested(layers, TRUE, layer);
}

/** Trees of the greatest depth, by what their levels are. */
export const deepTrees: Readonly<Record<string, () => Tree>> = {
  conditions: () => deepest((inner) => choice(inner, TRUE, TRUE)),
  'first branches': () => deepest((inner) => choice(TRUE, inner, TRUE)),
  'second branches': () => deepest((inner) => choice(TRUE, TRUE, inner)),
  values: () => deepest((inner) => block('', inner, TRUE)),
  'values that are used': () => deepest((inner) => block('', inner, ref(''))),
  blocks: () => deepest((inner) => block('', TRUE, inner)),
  fields: () => deepest((inner) => ({ op: 'getter', of: inner, field: '' })),
  calls: () => deepest((inner) => call(1, [inner])),
  negations: () => deepest((inner) => call('!', [inner])),
  records: () => deepest((inner) => call('Alias', [inner])),
  variables: () =>
    nested(590, ref(nameOf(589)), (inner, i) =>
      block(nameOf(i), i === 0 ? TRUE : ref(nameOf(i - 1)), inner),
    ),
};

/** Trees that are dear to read or to look at for another reason. */
export const dearTrees: Readonly<Record<string, () => Tree>> = {
  /** 300 changes are undone and made again by each of 300 branches, 64 times. */
  'undone changes': () =>
    declared(
      300,
      doubled(
        6,
        nested(300, call(0, used(300)), (inner) => choice(TRUE, inner, TRUE)),
      ),
    ),
  /** Every change comes behind a branch, and there are many names. */
  'changes in branches': () =>
    declared(
      500,
      doubled(
        20,
        nested(200, TRUE, (inner, i) =>
          choice(
            TRUE,
            block(nameOf((i * 37) % 500), TRUE, TRUE),
            block(nameOf((i * 31) % 500), TRUE, inner),
          ),
        ),
      ),
    ),
  'paths that double': () => doubled(190, TRUE),
  'checks of signatures': () =>
    nested(
      300,
      call(
        0,
        Array.from({ length: 130 }, () => call(500, used(3))),
      ),
      (inner, i) => block(nameOf(i), i < 3 ? TRUE : ref(nameOf(i - 3)), inner),
    ),
  arguments: () => call(0, new Array<Tree>(8179).fill(TRUE)),
};

export const binaryOf = (tree: Tree): Uint8Array => writeScript(1, tree, secureHash);

// ── sources ──────────────────────────────────────────────────────────────────────────────────

/** As many parts as a source may have. */
function filled(head: string, part: string, tail: string): string {
  const room = SOURCE_LENGTH_MAX - head.length - tail.length;
  return head + part.repeat(Math.floor(room / part.length)) + tail;
}

/** A call of a function that does not exist, which compiles all of its arguments first. */
const argumentsOf = (part: string, head = ''): string => filled(`${head}f(`, `${part},`, '1)');

const lets = Array.from({ length: 900 }, (_, i) => `let a${i}=1 `).join('');
/** All that a case may name at once. */
const wideCase = `case t:${'Transaction|'.repeat(57)}Order=>`;
const inWideCase = (part: string): string =>
  filled(`match tx{${wideCase}f(`, `${part},`, '1)case _=>false}');
const differing = 'let a=if true then tx else 1\nlet b=if true then unit else a\n';

const branches = Array.from({ length: 300 }, (_, i) => `let a${i}=if true then a else b\n`).join(
  '',
);

/** Sources of 64 KB by what is many in them. */
export const dearSources: Readonly<Record<string, () => string>> = {
  variables: () => filled('', `{${lets}\ntrue}||`, 'true'),
  'types of cases': () =>
    filled('match tx{', `case t:${'Transaction|'.repeat(7)}Order=>true `, 'case _=>false}'),
  matches: () => argumentsOf('match tx{case _=>1}'),
  'matches with types': () => argumentsOf('match tx{case _:Transaction|Transaction=>1 case _=>1}'),
  'fields of a wide union': () => inWideCase('t.fee'),
  'wide unions joined': () => inWideCase('if true then t else 1'),
  'wide unions compared': () => inWideCase('t==tx'),
  'unions compared': () => argumentsOf('tx==tx'),
  'equal unions of other orders': () =>
    argumentsOf('b==c', `${differing}let c=if true then b else unit\n`),
  'unions joined': () => argumentsOf('if true then tx else 1'),
  'branches of unions': () => filled(differing, `{${branches}true}||`, 'true'),
  fields: () => argumentsOf('tx.id'),
  elements: () => argumentsOf('tx.proofs[0]'),
  integers: () => argumentsOf('1'),
  sums: () => argumentsOf('1+1'),
  'differing signs': () => argumentsOf('-1'),
  negations: () => argumentsOf('!!!!!!!!!!true'),
  names: () => argumentsOf('a', 'let a=1\n'),
  'short lets': () => argumentsOf('{let a=1;a}'),
  braces: () => argumentsOf('{{{{1}}}}'),
  records: () => argumentsOf('Alias("")'),
  'calls that fail': () => argumentsOf('throw()'),
  'short texts': () => argumentsOf('""'),
  'Base58 literals': () => argumentsOf(`base58'${'z'.repeat(10_800)}'`),
  'Base64 literals': () => argumentsOf("base64''"),
  comments: () => argumentsOf('1 #\n'),
  'a directive': () => `{-#${'a'.repeat(SOURCE_LENGTH_MAX - 10)}\ntrue`,
  'a directive with spaces': () =>
    `{-# LANGUAGE_VERSION${' '.repeat(30_000)}${'1'.repeat(30_000)}\ntrue`,
  directives: () => filled('', '{-#\n', 'true'),
  escapes: () => `"${'\\u0041'.repeat(10_900)}"==""`,
  'one name': () => filled('let ', 'a', '=1\ntrue'),
  'operators of all levels': () => `${'true&&1==1>1+1*('.repeat(499)}1${')'.repeat(499)}`,
};

/** Sources that nest as deep as the parser permits, or whose trees are as deep. */
export const deepSources: Readonly<Record<string, () => string>> = {
  brackets: () => `${'('.repeat(499)}true${')'.repeat(499)}`,
  'operators of all levels': () => `${'(true&&1==1>1+1*'.repeat(499)}1${')'.repeat(499)}`,
  'operators before calls': () => `${'1==1>1+1*f('.repeat(499)}1${')'.repeat(499)}`,
  branches: () => `${'if true then '.repeat(499)}true${' else true'.repeat(499)}`,
  matches: () => `${'match tx {case _=>'.repeat(499)}true${'}'.repeat(499)}`,
  'matched values': () => `${'match '.repeat(499)}tx${' {case _=>tx}'.repeat(499)}==tx`,
  indexes: () => `${'tx.proofs['.repeat(499)}0${']'.repeat(499)}`,
  'all forms': () => `${'-!f(1)[if true then match '.repeat(249)}0${']'.repeat(249)}`,
  'arguments in brackets': () => `${'!('.repeat(480)}f(${'1,'.repeat(31_000)}1)${')'.repeat(480)}`,
  conjunctions: () => `${'true&&'.repeat(990)}true`,
  negations: () => `${'!'.repeat(990)}true`,
  sums: () => `1${'+1'.repeat(990)}==1`,
  fields: () => `tx${'.recipient'.repeat(990)}`,
  lets: () => `${lets}\ntrue`,
  'matches with variables': () =>
    `${Array.from({ length: 330 }, (_, i) => `match tx {case v${i}=>`).join('')}true${'}'.repeat(330)}`,
};
