/** Failures of calls that are not the doing of a contract, as the node reports them. */
import type { ContractFailure } from '../../base/ports/containers.ts';

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

/** The engine lacks what every container needs, so it is no fault of an image: its calls wait. */
export class EngineShort extends Error {
  override name = 'EngineShort';
}

/** The text of an error, for the log and for messages about engines. */
export const reasonOf = (cause: unknown): string =>
  cause instanceof Error ? cause.message : String(cause);

/** The same of a failure whose text is for users, with what is for the log alone. */
export const whyOf = (cause: unknown): string =>
  cause instanceof Failed && cause.cause !== undefined
    ? `${cause.message}: ${reasonOf(cause.cause)}`
    : reasonOf(cause);

/** An outcome that ends what a function of several steps does. */
export class Failed extends Error {
  override name = 'Failed';
  readonly failure: ContractFailure;

  /** `cause` in the options is for the log: it may tell of paths and networks of the node. */
  constructor(failure: ContractFailure, options: ErrorOptions = {}) {
    super(failure.message, options);
    this.failure = failure;
  }
}
