/**
 * Random sources of the dialect that every compiler of the family shares: no mixture of `||` and
 * `&&` without brackets, one type in a case, a default in each match. Some do not compile.
 */
import type { Rng } from '../generators/random.ts';

type Kind = 'Int' | 'String' | 'Bytes' | 'Boolean';

interface Scope {
  readonly rng: Rng;
  readonly variables: readonly (readonly [name: string, kind: Kind])[];
  /** The number of names that were given. */
  readonly names: { count: number };
}

const KINDS: readonly Kind[] = ['Int', 'String', 'Bytes', 'Boolean'];
/** Own fields of transaction types, by kind. */
const FIELDS: readonly (readonly [type: string, kind: Kind, field: string])[] = [
  ['TransferTransaction', 'Int', 'amount'],
  ['TransferTransaction', 'Bytes', 'attachment'],
  ['BurnTransaction', 'Int', 'quantity'],
  ['BurnTransaction', 'Bytes', 'assetId'],
  ['ReissueTransaction', 'Boolean', 'reissuable'],
  ['LeaseTransaction', 'Int', 'amount'],
  ['CreateAliasTransaction', 'String', 'alias'],
  ['MassTransferTransaction', 'Int', 'transferCount'],
];
const WRONG_ONE_IN = 120;

/** A program whose result is a Boolean, unless an error got in. */
export function programOf(rng: Rng, version: 1 | 2, directive: string): string {
  const scope: Scope = { rng, variables: [], names: { count: 0 } };
  return `{-# ${directive} ${version} #-}\n${body(scope, 'Boolean', 4)}`;
}

/** Lets, and an expression that may use them. */
function body(scope: Scope, kind: Kind, depth: number): string {
  if (depth > 1 && scope.rng.chance(2)) {
    const of = scope.rng.pick(KINDS);
    const name = `v${scope.names.count++}`;
    const value = expression(scope, of, depth - 1);
    const inner = { ...scope, variables: [...scope.variables, [name, of] as const] };
    return `let ${name} = ${value}\n${body(inner, kind, depth - 1)}`;
  }
  return expression(scope, kind, depth);
}

function expression(scope: Scope, wanted: Kind, depth: number): string {
  const { rng } = scope;
  const kind = rng.chance(WRONG_ONE_IN) ? rng.pick(KINDS) : wanted;
  const known = scope.variables.filter(([, of]) => of === kind);
  if (known.length > 0 && rng.chance(3)) return rng.pick(known)[0];
  if (depth <= 0) return literal(scope, kind);
  const of = (inner: Kind): string => expression(scope, inner, depth - 1);
  switch (rng.below(8)) {
    case 0:
      return `if ${of('Boolean')} then ${of(kind)} else ${of(kind)}`.replace(/^.*$/s, '($&)');
    case 1:
      return matched(scope, kind, depth);
    case 2:
      return `{${body(scope, kind, depth - 1)}}`;
    default:
      return rng.pick(FORMS[kind])(of, scope);
  }
}

type Of = (kind: Kind) => string;

const FORMS: Readonly<Record<Kind, readonly ((of: Of, scope: Scope) => string)[]>> = {
  Int: [
    (of, { rng }) => `(${of('Int')} ${rng.pick(['+', '-', '*', '/', '%'])} ${of('Int')})`,
    (of) => `size(${of('String')})`,
    (of) => `size(${of('Bytes')})`,
    (of) => `fraction(${of('Int')}, ${of('Int')}, ${of('Int')})`,
    () => 'height',
    () => 'tx.timestamp',
    (of) => `extract(getInteger(tx.sender, ${of('String')}))`,
    () => 'wavesBalance(tx.sender)',
  ],
  String: [
    (of) => `(${of('String')} + ${of('String')})`,
    (of) => `toString(${of('Int')})`,
    (of) => `toString(${of('Boolean')})`,
    (of, { rng }) =>
      `${rng.pick(['take', 'drop', 'takeRight', 'dropRight'])}(${of('String')}, ${of('Int')})`,
    (of) => `toBase58String(${of('Bytes')})`,
    (of) => `toBase64String(${of('Bytes')})`,
    (of) => `extract(getString(tx.sender, ${of('String')}))`,
  ],
  Bytes: [
    (of) => `(${of('Bytes')} + ${of('Bytes')})`,
    (of, { rng }) => `toBytes(${of(rng.pick(['Int', 'String', 'Boolean']))})`,
    (of, { rng }) =>
      `${rng.pick(['take', 'drop', 'takeRight', 'dropRight'])}(${of('Bytes')}, ${of('Int')})`,
    (of, { rng }) => `${rng.pick(['sha256', 'blake2b256', 'keccak256'])}(${of('Bytes')})`,
    (of) => `fromBase58String(${of('String')})`,
    (of) => `fromBase64String(${of('String')})`,
    () => 'tx.senderPublicKey',
    () => 'tx.bodyBytes',
    () => 'tx.id',
    (_of, { rng }) => `tx.proofs[${rng.below(9)}]`,
  ],
  Boolean: [
    (of, { rng }) => `(${of('Int')} ${rng.pick(['>', '>=', '<', '<=', '==', '!='])} ${of('Int')})`,
    (of, { rng }) => `(${of('String')} ${rng.pick(['==', '!='])} ${of('String')})`,
    (of, { rng }) => `(${of('Bytes')} ${rng.pick(['==', '!='])} ${of('Bytes')})`,
    (of, { rng }) => `(${of('Boolean')} ${rng.pick(['&&', '||'])} ${of('Boolean')})`,
    (of) => `!${of('Boolean').replace(/^(?!\(|\w+\(|v\d+$)(.*)$/s, '($1)')}`,
    (of) => `sigVerify(${of('Bytes')}, ${of('Bytes')}, ${of('Bytes')})`,
    (of) => `isDefined(getBoolean(tx.sender, ${of('String')}))`,
    (of) => `isDefined(transactionHeightById(${of('Bytes')}))`,
  ],
};

function matched(scope: Scope, kind: Kind, depth: number): string {
  const { rng } = scope;
  const [type, of, field] = rng.pick(FIELDS);
  const name = `v${scope.names.count++}`;
  const own = { ...scope, variables: [...scope.variables, [`${name}.${field}`, of] as const] };
  const inner = { ...own, variables: own.variables };
  const yes = expression(inner, kind, depth - 1);
  const no = expression(scope, kind, depth - 1);
  return `(match tx { case ${name}: ${type} => ${yes} case _ => ${no} })`;
}

function literal({ rng }: Scope, kind: Kind): string {
  switch (kind) {
    case 'Int':
      return String(rng.below(1000));
    case 'String':
      return rng.pick(['""', '"abc"', '"a\\nb"', '"\\u0041ü"']);
    case 'Bytes':
      return rng.pick(["base58''", "base58'2NEpo7TZRRrLZSi2U'", "base64'AQID'"]);
    case 'Boolean':
      return rng.pick(['true', 'false']);
  }
}
