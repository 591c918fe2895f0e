/**
 * The remote procedures by name, with the TypeScript types of their messages. The fields stand in
 * the .proto files of the folder `proto`; test/adapters/containers/grpc compares both.
 */

/** A 64-bit integer as protobufjs takes and gives it. */
export interface Int64 {
  readonly low: number;
  readonly high: number;
}

/** A wrapper of google.protobuf, which tells an absent value from zero. */
export interface Wrapped<T> {
  readonly value: T;
}

export interface GrpcEntry {
  readonly key: string;
  readonly intValue?: Int64;
  readonly boolValue?: boolean;
  readonly binaryValue?: Uint8Array;
  readonly stringValue?: string;
}

export interface Role {
  readonly role: string;
  readonly dueTimestamp: Wrapped<number> | undefined;
}

interface Entries {
  readonly entries: readonly GrpcEntry[];
}

export interface TransactionMessage {
  readonly transaction: {
    readonly id: string;
    readonly type: 103 | 104;
    readonly sender: string;
    readonly senderPublicKey: string;
    readonly contractId: string;
    readonly params: readonly GrpcEntry[];
    readonly fee: Int64;
    readonly version: number;
    readonly proofs: Uint8Array;
    readonly timestamp: number;
    readonly feeAssetId: Wrapped<string> | undefined;
    readonly createData?: {
      readonly image: string;
      readonly imageHash: string;
      readonly contractName: string;
    };
    readonly callData?: { readonly contractVersion: number };
  };
  readonly authToken: string;
  readonly currentBlockInfo: {
    readonly height: number;
    readonly timestamp: number;
    readonly minerAddress: string;
    readonly reference: string;
  };
}

type Rpc<Request, Response> = { readonly request: Request; readonly response: Response };
type Nothing = Readonly<Record<never, never>>;
type ForPolicy<Response> = Rpc<{ readonly policyId: string }, Response>;

/** What a container sends and reads outside of a call: the stream of its transactions. */
export interface ConnectRpc {
  readonly 'ContractService/Connect': Rpc<{ readonly connectionId: string }, TransactionMessage>;
}

/** How a container ends a call. */
export interface CommitRpcs {
  readonly 'ContractService/CommitExecutionSuccess': Rpc<
    {
      readonly txId: string;
      readonly results: readonly GrpcEntry[];
      readonly assetOperations: readonly unknown[];
    },
    Nothing
  >;
  readonly 'ContractService/CommitExecutionError': Rpc<
    { readonly txId: string; readonly message: string; readonly code: number },
    Nothing
  >;
}

/** What a container reads during a call. */
export interface ReadRpcs {
  readonly 'ContractService/GetContractKeys': Rpc<
    {
      readonly contractId: string;
      readonly limit: Wrapped<number> | null;
      readonly offset: Wrapped<number> | null;
      readonly matches: Wrapped<string> | null;
      readonly keysFilter: { readonly keys: readonly string[] } | null;
    },
    Entries
  >;
  readonly 'ContractService/GetContractKey': Rpc<
    { readonly contractId: string; readonly key: string },
    { readonly entry: GrpcEntry }
  >;
  readonly 'ContractService/GetContractBalances': Rpc<
    { readonly assetsIds: readonly Wrapped<string>[] },
    {
      readonly assetsBalances: readonly {
        readonly assetId: Wrapped<string> | undefined;
        readonly amount: number;
        readonly decimals: number;
      }[];
    }
  >;
  readonly 'ContractService/CalculateAssetId': Rpc<
    { readonly nonce: number },
    { readonly value: string }
  >;
  readonly 'AddressService/GetAddresses': Rpc<Nothing, { readonly addresses: readonly string[] }>;
  readonly 'AddressService/GetAddressData': Rpc<
    {
      readonly address: string;
      readonly limit: Wrapped<number> | null;
      readonly offset: Wrapped<number> | null;
    },
    Entries
  >;
  readonly 'AddressService/GetAssetBalance': Rpc<
    { readonly address: Uint8Array; readonly assetId: Wrapped<Uint8Array> | null },
    {
      readonly assetId: Wrapped<Uint8Array> | undefined;
      readonly amount: Int64;
      readonly decimals: number;
    }
  >;
  readonly 'UtilService/GetNodeTime': Rpc<
    Nothing,
    { readonly system: number; readonly ntp: number }
  >;
  readonly 'TransactionService/TransactionExists': Rpc<
    { readonly txId: string },
    { readonly exists: boolean }
  >;
  readonly 'PermissionService/GetPermissions': Rpc<
    { readonly address: string; readonly timestamp: Wrapped<Int64> | null },
    { readonly roles: readonly Role[]; readonly timestamp: number }
  >;
  readonly 'PermissionService/GetPermissionsForAddresses': Rpc<
    { readonly addresses: readonly string[]; readonly timestamp: Int64 },
    {
      readonly addressToRoles: readonly {
        readonly address: string;
        readonly roles: readonly Role[];
      }[];
      readonly timestamp: number;
    }
  >;
  readonly 'PrivacyService/GetPolicyRecipients': ForPolicy<{
    readonly recipients: readonly string[];
  }>;
  readonly 'PrivacyService/GetPolicyOwners': ForPolicy<{ readonly owners: readonly string[] }>;
  readonly 'PrivacyService/GetPolicyHashes': ForPolicy<{ readonly hashes: readonly string[] }>;
  readonly 'BlockService/GetBlockHeader': Rpc<
    { readonly signature?: string; readonly height?: Int64 },
    {
      readonly version: number;
      readonly height: number;
      readonly blockSignature: string;
      readonly reference: string;
      readonly minerAddress: string;
      readonly txCount: number;
      readonly timestamp: number;
    }
  >;
}

export type Rpcs = ConnectRpc & CommitRpcs & ReadRpcs;
export type RpcName = keyof Rpcs;
export type RequestOf<N extends RpcName> = Rpcs[N]['request'];
export type ResponseOf<N extends RpcName> = Rpcs[N]['response'];
