/**
 * The checks of proofs that a script will probably ask for: `sigVerify(tx.bodyBytes,
 * tx.proofs[i], key)` with constant key, also by way of variables. Other threads make them in
 * advance; a check that is not among them is made when the script asks.
 */
import { partsOf, type Tree } from './language/tree.ts';

export interface SignatureUse {
  /** Index in `tx.proofs`. */
  readonly proof: number;
  /** Undefined: the key of the sender. */
  readonly publicKey: Uint8Array | undefined;
}

const SIGNATURE_CHECK = 500;
const ELEMENT = 401;
const PROOFS_MAX = 8n;
/** A script can ask for no more on one path, by its cost. */
const USES_MAX = 20;

/** Names and their values; a predefined variable has none. */
interface Names {
  readonly name: string;
  readonly value: Tree;
  readonly outer: Names | undefined;
}

interface Placed {
  readonly tree: Tree;
  readonly names: Names | undefined;
}

export function signatureUses(tree: Tree): readonly SignatureUse[] {
  const uses: SignatureUse[] = [];
  // The last one is the next. No depth of a tree exhausts the stack.
  const rest: Placed[] = [{ tree, names: undefined }];
  for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
    const { tree: node, names } = next;
    if (node.op === 'call' && node.header === SIGNATURE_CHECK) {
      const use = useOf(node.args, names);
      if (use !== undefined) uses.push(use);
      if (uses.length === USES_MAX) break;
    }
    if (node.op === 'block') {
      const { name, value, body } = node;
      rest.push({ tree: body, names: { name, value, outer: names } }, { tree: value, names });
    } else {
      for (const part of partsOf(node).toReversed()) rest.push({ tree: part, names });
    }
  }
  return uses;
}

function useOf(args: readonly Tree[], names: Names | undefined): SignatureUse | undefined {
  const [message, proof, key] = args.map((tree) => meaningOf({ tree, names }));
  if (message === undefined || proof === undefined || key === undefined) return undefined;
  if (!isFieldOfTx(message, 'bodyBytes')) return undefined;
  const index = proofIndex(proof);
  if (index === undefined) return undefined;
  if (key.tree.op === 'bytes') return { proof: index, publicKey: key.tree.value };
  const isSender = isFieldOfTx(key, 'senderPublicKey');
  return isSender ? { proof: index, publicKey: undefined } : undefined;
}

function proofIndex({ tree, names }: Placed): number | undefined {
  if (tree.op !== 'call' || tree.header !== ELEMENT || tree.args.length !== 2) return undefined;
  const [list, index] = tree.args.map((arg) => meaningOf({ tree: arg, names }));
  if (!isFieldOfTx(list!, 'proofs') || index!.tree.op !== 'long') return undefined;
  const { value } = index!.tree;
  return value >= 0n && value < PROOFS_MAX ? Number(value) : undefined;
}

function isFieldOfTx({ tree, names }: Placed, field: string): boolean {
  if (tree.op !== 'getter' || tree.field !== field) return false;
  const { tree: of } = meaningOf({ tree: tree.of, names });
  return of.op === 'ref' && of.name === 'tx';
}

/** What a variable stands for; a predefined one stands for itself. */
function meaningOf(placed: Placed): Placed {
  let { tree, names } = placed;
  while (tree.op === 'ref') {
    const { name } = tree;
    while (names !== undefined && names.name !== name) names = names.outer;
    if (names === undefined) break;
    tree = names.value;
    names = names.outer;
  }
  return { tree, names };
}
