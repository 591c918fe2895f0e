/** What a contract may ask during a call, each procedure as a function of the port's reads. */
import { base58 } from '../../../base/base58.ts';
import type { ContractExecution, RoleInfo } from '../../../base/ports/containers.ts';
import { ID_BYTES } from '../../../base/sizes.ts';
import { fromInt64, numberOf, toEntry, toInt64 } from './entries.ts';
import type { ReadRpcs, Role, Wrapped } from './rpcs.ts';
import { GrpcRefusal } from './status.ts';

type ReadHandlers = {
  readonly [N in keyof ReadRpcs]: (
    request: ReadRpcs[N]['request'],
    execution: ContractExecution,
  ) => ReadRpcs[N]['response'] | Promise<ReadRpcs[N]['response']>;
};

/** Where a request names none, the budget of the call is the limit. */
const NO_LIMIT = 2 ** 31 - 1;
const NATIVE_DECIMALS = 8;

export const readHandlers: ReadHandlers = {
  async 'ContractService/GetContractKeys'(request, execution) {
    const query = {
      offset: countIn(request.offset, 0),
      limit: countIn(request.limit, NO_LIMIT),
      matches: request.matches?.value,
      keys: request.keysFilter?.keys,
    };
    const contractId = contractIn(request.contractId, execution);
    const entries = await execution.reads.contractEntries(contractId, query);
    return { entries: entries.map(toEntry) };
  },

  'ContractService/GetContractKey'({ contractId, key }, execution) {
    const id = contractIn(contractId, execution);
    return { entry: toEntry(execution.reads.contractEntry(id, key)) };
  },

  // Contracts own nothing, so this says only how many decimals there are.
  async 'ContractService/GetContractBalances'({ assetsIds }, { reads, transaction }) {
    reads.spend(assetsIds.filter(({ value }) => value === '').length);
    const assetsBalances = await reads.streamed(assetsIds, ({ value }) =>
      value === ''
        ? { assetId: undefined, amount: 0, decimals: NATIVE_DECIMALS }
        : {
            assetId: { value },
            amount: 0,
            decimals: reads.balance(transaction.sender, value).decimals,
          },
    );
    return { assetsBalances };
  },

  'ContractService/CalculateAssetId': ({ nonce }, { reads }) => ({ value: reads.assetId(nonce) }),

  'AddressService/GetAddresses': (_request, { reads }) => ({ addresses: reads.addresses() }),

  async 'AddressService/GetAddressData'({ address, limit, offset }, { reads }) {
    const [skipped, most] = [countIn(offset, 0), countIn(limit, NO_LIMIT)];
    return { entries: (await reads.addressData(address, skipped, most)).map(toEntry) };
  },

  'AddressService/GetAssetBalance'({ address, assetId }, { reads }) {
    const id = assetId === null ? undefined : textOf(assetId.value);
    const { amount, decimals } = reads.balance(textOf(address), id);
    return {
      assetId: assetId === null ? undefined : { value: assetId.value },
      amount: toInt64(amount),
      decimals,
    };
  },

  'UtilService/GetNodeTime': (_request, { reads }) => reads.time(),

  'TransactionService/TransactionExists': ({ txId }, { reads }) => ({
    exists: reads.transactionExists(txId),
  }),

  'PermissionService/GetPermissions'({ address, timestamp }, { reads }) {
    const at = timestamp === null ? undefined : numberOf(timestamp.value);
    const found = reads.permissions(address, at);
    return { roles: found.roles.map(toRole), timestamp: found.timestamp };
  },

  async 'PermissionService/GetPermissionsForAddresses'({ addresses, timestamp }, { reads }) {
    const at = numberOf(timestamp);
    const addressToRoles = await reads.streamed(addresses, (address) => ({
      address,
      roles: reads.permissions(address, at).roles.map(toRole),
    }));
    return { addressToRoles, timestamp: at };
  },

  'PrivacyService/GetPolicyRecipients': async ({ policyId }, { reads }) => ({
    recipients: await reads.policyList(policyId, 'recipients'),
  }),
  'PrivacyService/GetPolicyOwners': async ({ policyId }, { reads }) => ({
    owners: await reads.policyList(policyId, 'owners'),
  }),
  'PrivacyService/GetPolicyHashes': async ({ policyId }, { reads }) => ({
    hashes: await reads.policyList(policyId, 'hashes'),
  }),

  'BlockService/GetBlockHeader'(request, { reads }) {
    const header = reads.blockHeader(blockIn(request));
    return {
      version: header.version,
      height: header.height,
      blockSignature: header.id,
      reference: header.reference,
      minerAddress: header.minerAddress,
      txCount: header.transactionCount,
      timestamp: header.timestamp,
    };
  },
};

/** The SDK for JavaScript leaves the id out where it reads several keys of its own contract. */
const contractIn = (contractId: string, { transaction }: ContractExecution): string =>
  contractId === '' ? transaction.contractId : contractId;

function countIn(wrapped: Wrapped<number> | null, otherwise: number): number {
  if (wrapped === null) return otherwise;
  if (wrapped.value >= 0) return wrapped.value;
  throw new GrpcRefusal('INVALID_ARGUMENT', 'Offset and limit are not negative');
}

/** Throws GrpcRefusal for more bytes than ids and addresses have: Base58 takes quadratic time. */
function textOf(bytes: Uint8Array): string {
  if (bytes.length <= ID_BYTES) return base58.encode(bytes);
  throw new GrpcRefusal('INVALID_ARGUMENT', 'An id or address has too many bytes');
}

const toRole = ({ role, due }: RoleInfo): Role => ({
  role,
  dueTimestamp: due === undefined ? undefined : { value: due },
});

function blockIn(request: ReadRpcs['BlockService/GetBlockHeader']['request']) {
  if (Object.hasOwn(request, 'signature')) return { id: request.signature! };
  if (Object.hasOwn(request, 'height')) return { height: Number(fromInt64(request.height!)) };
  throw new GrpcRefusal('INVALID_ARGUMENT', 'The request names no block');
}
