/**
 * Runs the scripts that judge a transaction, and makes their refusals (scripts.md#evaluation). A
 * refusal shows the script and what its variables were.
 */
import { assert } from '../../base/assert.ts';
import { type ApiError, apiError } from '../../base/errors.ts';
import type { ChainScheme } from '../../codec/codec.ts';
import type { Environment } from '../../script/evaluation/environment.ts';
import type { Meter } from '../../script/evaluation/meter.ts';
import type { Outcome } from '../../script/evaluation/program.ts';
import { type CaseObject, EvaluationFailure } from '../../script/language/values.ts';
import type { Script } from '../../script/script.ts';
import { shownVariables } from '../../script/text/variables-text.ts';
import { txToJson } from '../json/described.ts';
import type { PlannedVerdict } from '../proof-verdicts.ts';
import type { Proven, Tx } from '../transaction.ts';
import { scriptsOf } from './known-scripts.ts';
import { orderRecord, recordOf } from './records.ts';
import { environmentOf, type Situation, verifying } from './script-environment.ts';

type Judge = 'account-script' | 'token-script';

/** What the script of an account judges: a transaction, or an order inside one. */
export interface Subject extends Proven {
  readonly tx: Tx;
  readonly planned: readonly PlannedVerdict[];
}

/** Throws ApiError unless the script of the account permits the transaction or the order. */
export function judgeByAccount(
  bytes: Uint8Array,
  subject: Subject,
  at: Situation,
  meter: Meter,
): void {
  const { tx, order, planned } = subject;
  const { scheme } = at.view;
  const record = (): CaseObject =>
    order === undefined ? known(tx, 'account', scheme) : orderRecord(order, scheme, 'account');
  const env = environmentOf(at, 'account', record, verifying(subject, planned, at.view));
  requireTrue('account-script', bytes, env, meter, tx, scheme);
}

/** Throws ApiError unless the script of an asset permits the transaction. */
export function judgeByAsset(bytes: Uint8Array, tx: Tx, at: Situation, meter: Meter): void {
  const { scheme } = at.view;
  const record = (): CaseObject => known(tx, 'asset', scheme);
  const env = environmentOf(at, 'asset', record, (message, signature, publicKey) =>
    scheme.verify(publicKey, message, signature),
  );
  requireTrue('token-script', bytes, env, meter, tx, scheme);
}

function known(tx: Tx, context: 'account' | 'asset', scheme: ChainScheme): CaseObject {
  const record = recordOf(tx, scheme, context);
  assert(record !== undefined, 'a type without a record is refused before its script runs');
  return record;
}

const unknownToScripts = (tx: Tx): EvaluationFailure =>
  new EvaluationFailure(`${tx.def.name} has no representation in scripts`);

function requireTrue(
  judge: Judge,
  bytes: Uint8Array,
  env: Environment,
  meter: Meter,
  tx: Tx,
  scheme: ChainScheme,
): void {
  // Even a script that never looks at its transaction does not judge one that it could not see.
  const script = scriptsOf(scheme).stored(bytes);
  if (tx.def.record === undefined) {
    throw shown(
      apiError('ScriptFailed', `${judge}: ${unknownToScripts(tx).message}`),
      tx,
      script,
      scheme,
    );
  }
  const outcome = script.program.run(env, meter);
  const { result } = outcome;
  if (result === true) return;
  const error =
    result === false
      ? apiError('ScriptDenied', judge)
      : apiError('ScriptFailed', `${judge}: ${textOf(result)}`);
  throw shown(error, tx, script, scheme, outcome);
}

const textOf = (result: Outcome['result']): string =>
  result instanceof EvaluationFailure ? result.message : 'Script should return boolean';

function shown(
  error: ApiError,
  tx: Tx,
  script: Script,
  scheme: ChainScheme,
  outcome?: Outcome,
): ApiError {
  return error.with({
    transaction: txToJson(tx, scheme),
    script: script.text(),
    vars: [shownVariables(outcome?.variables() ?? [])],
  });
}
