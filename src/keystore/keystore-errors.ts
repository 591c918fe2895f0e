/**
 * Errors of a keystore. The texts are for the operator's console (node.md#key-files). Over REST
 * every missing key and every wrong password is MissingSenderPrivateKey.
 */
export class KeystoreError extends Error {
  override name = 'KeystoreError';
}

export type KeyProblem = 'Wrong password' | 'Expected password' | "Key wasn't found";

/** Why one account cannot be used: `Failed to get key for <alias>: Wrong password`. */
export class KeyError extends KeystoreError {
  override name = 'KeyError';
  readonly problem: KeyProblem;

  constructor(alias: string, problem: KeyProblem) {
    super(`Failed to get key for ${alias}: ${problem}`);
    this.problem = problem;
  }
}
