/**
 * Verdicts on the proofs of a transaction: its own, and those of the orders or of the transaction
 * that it carries. Other threads find them in advance. The pipeline judges them together with the
 * state (judge-proofs.ts).
 *
 * Without a script, each proof is checked with the key of its account. With one, the proofs are
 * checked as the script will probably ask (`CheckPlan`). A plan decides only what is checked early:
 * the pipeline itself makes each check that was not planned.
 *
 * Invariants: only this module makes verdicts, from the answers to checks that it has composed
 * itself, and from messages in which a thread of this process says what it has checked; verdicts are
 * about exactly the bytes that were checked, and say nothing about any others; a check that was made
 * for a script is never a verdict on the signature of the account.
 */
import { assert } from '../base/assert.ts';
import { equal } from '../base/bytes.ts';
import type { SignatureCheck, Verifier } from '../base/ports/verifier.ts';
import { signedBytes } from './assemble.ts';
import { asSent, membersOf } from './members.ts';
import type { Proven, Tx } from './transaction.ts';

/** One verdict for each proof, in their order; true: a good signature with the key of the account. */
export type Verdicts = readonly boolean[];

/** A check that a script will probably ask for. */
export interface PlannedCheck {
  /** Index of the proof. */
  readonly proof: number;
  /** Undefined: the key of the account. */
  readonly publicKey: Uint8Array | undefined;
}

export interface PlannedVerdict extends PlannedCheck {
  readonly isGood: boolean;
}

/** For each account, the sender first: undefined where it has no script. */
export type CheckPlan = readonly (readonly PlannedCheck[] | undefined)[];

/** What checks have found out. */
export interface Findings {
  /** Empty where no check was made, or a script was going to judge. */
  readonly own: Verdicts;
  /** In the order of `TxType.carried`; absent for those that were not checked. */
  readonly carried: readonly Verdicts[];
  /** For each account, the sender first; absent where no account had a script. */
  readonly planned?: readonly (readonly PlannedVerdict[])[];
}

const GOOD: Verdicts = [true];
const BAD: Verdicts = [false];
const NONE: readonly never[] = [];

/** Almost all verdicts share these, since a block has thousands of transactions. */
const ONE_GOOD: Findings = { own: GOOD, carried: NONE };
const ONE_BAD: Findings = { own: BAD, carried: NONE };
const NOTHING: Findings = { own: NONE, carried: NONE };

/** Makes verdicts of findings; no other module can. */
let found: (tx: Pick<Tx, 'bytes'>, findings: Findings) => ProofVerdicts;

/** Verdicts on the proofs in exactly these bytes, which do not change. */
export class ProofVerdicts {
  /** The number of bytes. */
  readonly size: number;
  readonly #memory: ArrayBufferLike;
  readonly #at: number;
  /** Absent in what lives long: a view takes 96 bytes. */
  #view: Uint8Array | undefined;
  #findings: Findings;

  /** Takes over what `known` says about the same bytes; without it, nothing has been checked. */
  constructor(tx: Pick<Tx, 'bytes'>, known?: ProofVerdicts) {
    const { bytes } = tx;
    this.size = bytes.length;
    this.#memory = bytes.buffer;
    this.#at = bytes.byteOffset;
    this.#view = undefined;
    this.#findings = known === undefined ? NOTHING : known.about(tx);
  }

  get bytes(): Uint8Array {
    return this.#view ?? new Uint8Array(this.#memory, this.#at, this.size);
  }

  /** True where these are the bytes themselves, and not equal ones. */
  holds({ buffer, byteOffset }: Uint8Array): boolean {
    return buffer === this.#memory && byteOffset === this.#at;
  }

  /** What was found out about this transaction: nothing, where the verdicts are about another. */
  about({ bytes }: Pick<Tx, 'bytes'>): Findings {
    const isSame = bytes.length === this.size && (this.holds(bytes) || equal(bytes, this.bytes));
    return isSame ? this.#findings : NOTHING;
  }

  /** True where every proof was checked as the signature of its account. */
  get isComplete(): boolean {
    return this.#findings !== NOTHING && this.#findings.planned === undefined;
  }

  /** Replaces what is known by what later checks of the same bytes have found out. */
  learn(later: ProofVerdicts): void {
    this.#findings = later.about(this);
  }

  static {
    found = (tx, findings) => {
      const verdicts = new ProofVerdicts(tx);
      verdicts.#findings = findings;
      verdicts.#view = tx.bytes;
      return verdicts;
    };
  }
}

/** A transaction with the verdicts on its proofs. */
export interface CheckedTx {
  readonly tx: Tx;
  readonly verdicts: ProofVerdicts;
}

/** Nothing was checked: whoever judges the transaction makes the checks. */
export const unchecked = (tx: Pick<Tx, 'bytes'>): ProofVerdicts => new ProofVerdicts(tx);

export const provenOf = (tx: Tx): Proven => ({
  publicKey: tx.senderPublicKey,
  message: signedBytes(tx),
  proofs: tx.proofs,
});

/** What checks take of the room of a verifier. */
export interface CheckLoad {
  readonly checks: number;
  readonly messageBytes: number;
}

/** Checks of the proofs of several transactions, which the verifier gets as one job. */
export class ProofChecks {
  readonly #checks: SignatureCheck[];
  readonly #othersCount: number;
  #messageBytes: number;
  readonly #txs: Tx[] = [];
  readonly #plans: (CheckPlan | undefined)[] = [];
  #verdicts: readonly ProofVerdicts[] | undefined;

  /** `others`: more checks for the same job. */
  constructor(others: readonly SignatureCheck[] = NONE) {
    this.#checks = [...others];
    this.#messageBytes = others.reduce((sum, { message }) => sum + message.length, 0);
    this.#othersCount = others.length;
  }

  /** The number of transactions so far. */
  get count(): number {
    return this.#txs.length;
  }

  /** The number of checks so far, and the bytes of their messages. */
  get load(): CheckLoad {
    return { checks: this.#checks.length, messageBytes: this.#messageBytes };
  }

  add(tx: Tx, plan?: CheckPlan): void {
    const before = this.#checks.length;
    addChecks(this.#checks, tx, plan);
    for (let i = before; i < this.#checks.length; i++) {
      this.#messageBytes += this.#checks[i]!.message.length;
    }
    this.#txs.push(tx);
    this.#plans.push(plan);
  }

  /** Asks once, for all that was added. Returns the answers to the others. */
  async ask(verifier: Pick<Verifier, 'verify'>): Promise<readonly boolean[]> {
    const checks = this.#checks;
    const answers = checks.length === 0 ? NONE : await verifier.verify(checks);
    assert(answers.length === checks.length, 'each check has its answer');
    const next = answers.values();
    const others = Array.from({ length: this.#othersCount }, () => next.next().value === true);
    const plans = this.#plans;
    this.#verdicts = this.#txs.map((tx, i) => found(tx, findingsOf(next, tx, plans[i])));
    return others;
  }

  /** The verdicts on the transaction that was added as number `index`; after `ask`. */
  verdicts(index: number): ProofVerdicts {
    const verdicts = this.#verdicts?.[index];
    assert(verdicts !== undefined, 'the checks have their answers');
    return verdicts;
  }
}

/** Checks the proofs of one transaction. */
export async function checkProofs(
  tx: Tx,
  plan: CheckPlan | undefined,
  verifier: Pick<Verifier, 'verifyOne'>,
): Promise<ProofVerdicts> {
  if (plan === undefined && tx.def.carried === undefined && tx.proofs.length === 1) {
    const isGood = await verifier.verifyOne(tx.senderPublicKey, signedBytes(tx), tx.proofs[0]!);
    return found(tx, isGood ? ONE_GOOD : ONE_BAD);
  }
  const checks: SignatureCheck[] = [];
  addChecks(checks, tx, plan);
  const answers = await Promise.all(
    checks.map((of) => verifier.verifyOne(of.publicKey, of.message, of.signature)),
  );
  return found(tx, findingsOf(answers.values(), tx, plan));
}

function addChecks(checks: SignatureCheck[], tx: Tx, plan?: CheckPlan): void {
  if (tx.proofs.length > 0) addProven(checks, provenOf(tx), plan?.[0]);
  const carried = tx.def.carried?.(tx) ?? NONE;
  for (let i = 0; i < carried.length; i++) addProven(checks, carried[i]!, plan?.[i + 1]);
}

function addProven(
  checks: SignatureCheck[],
  { publicKey, message, proofs }: Proven,
  planned: readonly PlannedCheck[] | undefined,
): void {
  if (planned === undefined) {
    for (const signature of proofs) checks.push({ publicKey, message, signature });
    return;
  }
  for (const { proof, publicKey: key = publicKey } of planned) {
    checks.push({ publicKey: key, message, signature: proofs[proof]! });
  }
}

/** Takes the answers to `addChecks` in the same order. */
function findingsOf(answers: Iterator<boolean>, tx: Tx, plan?: CheckPlan): Findings {
  if (plan !== undefined) return plannedFindings(answers, tx, plan);
  const own = answersTo(answers, tx.proofs);
  const { carried } = tx.def;
  if (carried !== undefined) {
    return { own, carried: carried(tx).map(({ proofs }) => answersTo(answers, proofs)) };
  }
  if (own === GOOD) return ONE_GOOD;
  return own === BAD ? ONE_BAD : { own, carried: NONE };
}

function plannedFindings(answers: Iterator<boolean>, tx: Tx, plan: CheckPlan): Findings {
  const verdicts: Verdicts[] = [];
  const planned: (readonly PlannedVerdict[])[] = [];
  for (const [i, { proofs }] of [tx, ...(tx.def.carried?.(tx) ?? NONE)].entries()) {
    const checks = plan[i];
    verdicts.push(checks === undefined ? answersTo(answers, proofs) : NONE);
    planned.push(
      (checks ?? NONE).map((check) => ({ ...check, isGood: answers.next().value === true })),
    );
  }
  const [own = NONE, ...carried] = verdicts;
  return { own, carried, planned };
}

function answersTo(answers: Iterator<boolean>, proofs: readonly Uint8Array[]): Verdicts {
  if (proofs.length === 1) return answers.next().value === true ? GOOD : BAD;
  return proofs.map(() => answers.next().value === true);
}

/** Verdicts on a transaction with another one inside, of which each may be known by itself. */
export function carrying(tx: Tx, own: ProofVerdicts, inside: ProofVerdicts): ProofVerdicts {
  const { own: carried, planned } = inside.about(innerOf(tx));
  const findings = { own: own.about(tx).own, carried: [carried] };
  return found(tx, planned === undefined ? findings : { ...findings, planned: [NONE, ...planned] });
}

/**
 * The verdicts on a transaction that another one carries: the only one, or a member. What a member
 * carries stands behind it.
 */
export function verdictsInside(tx: Tx, verdicts: ProofVerdicts, index = 0): ProofVerdicts {
  const { carried, planned } = verdicts.about(tx);
  const members = membersOf(tx);
  const carriedTx = members[index] ?? innerOf(tx);
  const before = members.slice(0, index).filter(carriesAnother).length;
  const at = members.length === 0 ? 0 : index + before;
  const end = carriesAnother(carriedTx) ? at + 2 : at + 1;
  const [own = NONE, ...inside] = carried.slice(at, end);
  const asked = planned?.slice(at + 1, end + 1);
  return found(carriedTx, {
    own,
    carried: inside,
    ...(asked === undefined || asked.length === 0 ? {} : { planned: asked }),
  });
}

const carriesAnother = (tx: Tx): boolean => asSent(tx) !== tx;

/**
 * For each part that a sealed transaction carries, its place among those of the form that waited;
 * undefined for what the generator has signed.
 */
export function* placesBefore(sealed: Tx): Generator<number | undefined> {
  let at = 0;
  for (const member of membersOf(sealed)) {
    if (carriesAnother(member)) yield undefined;
    yield at++;
  }
  yield undefined;
}

/**
 * Verdicts on the form of a transaction that a block holds: those on the form that waited in a pool,
 * and on the signatures that the generator has added, where they are known.
 */
export function sealing(
  sealed: Tx,
  waiting: Tx,
  known: ProofVerdicts,
  seal: ProofVerdicts = unchecked(sealed),
): ProofVerdicts {
  const { own, carried, planned } = known.about(waiting);
  const added = seal.about(sealed).carried;
  const places = [...placesBefore(sealed)];
  const all = places.map((at, i): Verdicts => (at === undefined ? added[i] : carried[at]) ?? NONE);
  const findings = { own, carried: all };
  if (planned === undefined) return found(sealed, findings);
  const [first = NONE, ...others] = planned;
  const moved = places.map((at) => (at === undefined ? undefined : others[at]) ?? NONE);
  return found(sealed, { ...findings, planned: [first, ...moved] });
}

function innerOf(tx: Tx): Tx {
  const inner = tx.def.inner?.(tx);
  assert(inner !== undefined, 'the transaction carries another one');
  return inner;
}

/**
 * What a thread of this process says about the proofs that it has checked as signatures: number of
 * accounts that have signed (u8) ‖ for each, number of its proofs (u8) ‖ one byte for each proof in
 * this order, 1 for a good signature.
 */
export function writeVerdicts(tx: Tx, verdicts: readonly boolean[]): number[] {
  const counts = [tx, ...(tx.def.carried?.(tx) ?? NONE)].map(({ proofs }) => proofs.length);
  return [counts.length, ...counts, ...verdicts.map((isGood) => (isGood ? 1 : 0))];
}

/** The checks whose verdicts `writeVerdicts` takes. */
export function signatureChecks(tx: Tx): readonly SignatureCheck[] {
  const checks: SignatureCheck[] = [];
  addChecks(checks, tx);
  return checks;
}

/**
 * Reads what such a thread has written at the beginning of its message. The bytes of the transaction
 * are the end of the message, `between` bytes behind the verdicts.
 */
export function readVerdicts(message: Uint8Array, between: number): ProofVerdicts {
  const accounts = message[0]!;
  let at = 1 + accounts;
  let findings = message[2] === 1 ? ONE_GOOD : ONE_BAD;
  // One account with one proof, as almost always.
  if (accounts === 1 && message[1] === 1) at++;
  else {
    const lists = Array.from({ length: accounts }, (_, i): Verdicts => {
      const begin = at;
      at += message[1 + i]!;
      return Array.from(message.subarray(begin, at), (byte) => byte === 1);
    });
    const [own = NONE, ...carried] = lists;
    findings = { own, carried };
  }
  return found({ bytes: message.subarray(at + between) }, findings);
}
