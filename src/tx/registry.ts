/** Every transaction type in one list; read this file to know what the chain can hold. */
import type { Decoder } from './decoder.ts';
import { createDecoder } from './decoder.ts';
import type { TxType } from './transaction.ts';
import { genesis } from './types/001-genesis.ts';
import { payment } from './types/002-payment.ts';
import { issue } from './types/003-issue.ts';
import { transfer } from './types/004-transfer.ts';
import { reissue } from './types/005-reissue.ts';
import { burn } from './types/006-burn.ts';
import { exchange } from './types/007-exchange.ts';
import { lease } from './types/008-lease.ts';
import { leaseCancel } from './types/009-lease-cancel.ts';
import { createAlias } from './types/010-create-alias.ts';
import { massTransfer } from './types/011-mass-transfer.ts';
import { data } from './types/012-data.ts';
import { setScript } from './types/013-set-script.ts';
import { sponsorFee } from './types/014-sponsor-fee.ts';
import { setAssetScript } from './types/015-set-asset-script.ts';
import { genesisPermit } from './types/101-genesis-permit.ts';
import { permit } from './types/102-permit.ts';
import { createContract } from './types/103-create-contract.ts';
import { callContract } from './types/104-call-contract.ts';
import { executedContract } from './types/105-executed-contract.ts';
import { disableContract } from './types/106-disable-contract.ts';
import { updateContract } from './types/107-update-contract.ts';
import { genesisRegisterNode } from './types/110-genesis-register-node.ts';
import { registerNode } from './types/111-register-node.ts';
import { createPolicy } from './types/112-create-policy.ts';
import { updatePolicy } from './types/113-update-policy.ts';
import { policyDataHash } from './types/114-policy-data-hash.ts';

// Each declaration knows its own fields; the list forgets them.
export const allTypes = [
  genesis,
  payment,
  issue,
  transfer,
  reissue,
  burn,
  exchange,
  lease,
  leaseCancel,
  createAlias,
  massTransfer,
  data,
  setScript,
  sponsorFee,
  setAssetScript,
  genesisPermit,
  permit,
  createContract,
  callContract,
  executedContract,
  disableContract,
  updateContract,
  genesisRegisterNode,
  registerNode,
  createPolicy,
  updatePolicy,
  policyDataHash,
] as readonly unknown[] as readonly TxType[];

export const types: ReadonlyMap<number, TxType> = new Map(allTypes.map((def) => [def.type, def]));

export function defOf(type: number): TxType | undefined {
  return types.get(type);
}

/** Bytes of any type → transaction; see decoder.ts. */
export const decodeTx: Decoder = createDecoder(allTypes);
