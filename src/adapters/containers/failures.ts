/** Failures of calls that are not the doing of a contract, as the node reports them. */
import type { ContractFailure } from '../../base/containers.ts';

/** Time may heal it: the engine is away, a registry does not answer. */
export const passing = (message: string): ContractFailure => ({
  kind: 'failure',
  message,
  recoverable: true,
  system: true,
});

/** The program in the container is at fault, and may do better in a new one. */
export const ofContract = (message: string): ContractFailure => ({
  kind: 'failure',
  message,
  recoverable: true,
  system: false,
});

/** It stays so: the image has another digest or does not exist. */
export const lasting = (message: string): ContractFailure => ({
  kind: 'failure',
  message,
  recoverable: false,
  system: true,
});

/** The text of an error, for the log and for messages about engines. */
export const reasonOf = (cause: unknown): string =>
  cause instanceof Error ? cause.message : String(cause);

/** An outcome that ends what a function of several steps does. */
export class Failed extends Error {
  override name = 'Failed';
  readonly failure: ContractFailure;

  constructor(failure: ContractFailure) {
    super(failure.message);
    this.failure = failure;
  }
}
