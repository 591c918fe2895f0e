/**
 * The functions of @waves/waves-transactions that the tests call. Its own declarations re-export
 * TypeScript sources, which the compiler would check by the rules of this project.
 */
export interface SignedTransaction {
  readonly id: string;
  readonly type: number;
  readonly timestamp: number;
  readonly [field: string]: unknown;
}

/** Several seeds make as many proofs. */
type Build = (parameters: object, seed: string | readonly string[]) => SignedTransaction;

export const alias: Build;
export const burn: Build;
export const cancelLease: Build;
export const data: Build;
export const invokeScript: Build;
export const issue: Build;
export const lease: Build;
export const massTransfer: Build;
export const reissue: Build;
export const setAssetScript: Build;
export const setScript: Build;
export const sponsorship: Build;
export const transfer: Build;
export const updateAssetInfo: Build;
export function broadcast(transaction: SignedTransaction, node: string): Promise<SignedTransaction>;
export const libs: {
  readonly crypto: {
    address(seed: string, chainId: string): string;
    verifySignature(
      publicKey: string,
      message: Uint8Array,
      signature: string | Uint8Array,
    ): boolean;
  };
};
export const nodeInteraction: {
  balance(address: string, node: string): Promise<number | string>;
  assetBalance(asset: string, address: string, node: string): Promise<number | string>;
  assetBalance(asset: string, address: string, node: string): Promise<number | string>;
  waitForTx(id: string, options: object): Promise<object>;
  transactionById(id: string, node: string): Promise<object>;
  currentHeight(node: string): Promise<number>;
};
