/**
 * Scripts that make their reader and the estimate work as much as 8,192 bytes permit. They are the
 * dearest of their kind that a search over such forms found.
 */
import { SCRIPT_BYTES_MAX, writeScript } from '../../src/script/binary.ts';
import { TRUE, type Tree } from '../../src/script/tree.ts';
import { family } from './network.ts';

const { secureHash } = family;
/** Version and checksum, which do not count. */
const FRAME_BYTES = 5;

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
  const bytes = (tree: Tree): number => writeScript(1, tree, secureHash).length - FRAME_BYTES;
  const leaf = bytes(TRUE);
  const layers = Math.floor((SCRIPT_BYTES_MAX - leaf) / (bytes(layer(TRUE)) - leaf));
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
    nested(600, ref(nameOf(599)), (inner, i) =>
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
  arguments: () => call(0, new Array<Tree>(8184).fill(TRUE)),
};

export const binaryOf = (tree: Tree): Uint8Array => writeScript(1, tree, secureHash);
