/**
 * What a penalty needs: the rule that breaks what a peer sent, or what the peer did. No error of
 * this machine is of these types.
 */
import type { Refusal } from '../base/errors.ts';
import type { Misconduct } from '../base/faults/misconduct.ts';
import type { CodecError } from './codec.ts';

export type Evidence = Refusal | CodecError | Misconduct;
