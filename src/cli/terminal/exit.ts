/**
 * Exit codes and the one error that ends a command with a message (node.md#start).
 */
export const EXIT = {
  ok: 0,
  /** The command failed; also for errors of configuration and genesis. */
  failure: 1,
  /** Wrong usage of the command line. */
  usage: 2,
  /** A contract refused the transaction. */
  refusedByContract: 3,
  /** A contract could not be executed. */
  notExecuted: 4,
  /** A feature that this node does not implement is active in the network. */
  unsupportedFeature: 38,
  /** A password is needed and there is no console to ask for it. */
  noConsole: 61,
  /** The time servers gave no usable answer for too long. */
  noTime: 69,
  /** An assertion of the node failed. */
  assertion: 70,
  /** Another process holds the data directory. */
  locked: 75,
  /** The owner of the node is not registered in the network yet. */
  notRegistered: 77,
  /** A signal ended long work in an orderly way, and completed parts stay; or Ctrl-C a question. */
  interrupted: 130,
} as const;

/** Ends the command: `message` on stderr, then the exit code. */
export class CliError extends Error {
  override name = 'CliError';
  readonly code: number;

  constructor(message: string, code: number = EXIT.failure) {
    super(message);
    this.code = code;
  }
}

/** Another process holds the data directory. */
export const lockedBy = ({ message }: Error): CliError =>
  new CliError(`${message} (data-directory); stop it or choose another folder`, EXIT.locked);
