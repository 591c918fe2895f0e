/**
 * The record types that scripts know (docs/protocol/scripts.md#case-types). The order of the fields
 * is the order of the arguments of a constructor.
 */
import type { Context } from './tree.ts';
import {
  BOOLEAN,
  BYTES,
  type CaseType,
  INT,
  list,
  STRING,
  type Type,
  UNIT_TYPE,
  union,
} from './types.ts';

export interface CaseTypes {
  /** Every type with a constructor. */
  readonly constructors: ReadonlyMap<string, CaseType>;
  /** Types by the names that `case` takes. */
  readonly named: ReadonlyMap<string, Type>;
  /** The type of the variable `tx`. */
  readonly tx: Type;
  /** The result of `transactionById`, without Unit. */
  readonly anyTransaction: Type;
  readonly addressOrAlias: Type;
  readonly address: CaseType;
  readonly entries: Type;
}

type Fields = Readonly<Record<string, Type>>;

const caseType = (name: string, fields: Fields): CaseType => ({
  kind: 'case',
  name,
  fields: new Map(Object.entries(fields)),
});

/** `Buy` and `Sell` are values only; no `case` and no constructor has their name. */
export const BUY_TYPE = caseType('Buy', {});
export const SELL_TYPE = caseType('Sell', {});

const optionalBytes = union(BYTES, UNIT_TYPE);
const address = caseType('Address', { bytes: BYTES });
const alias = caseType('Alias', { alias: STRING });
const addressOrAlias = union(address, alias);
const transfer = caseType('Transfer', { recipient: addressOrAlias, amount: INT });
const assetPair = caseType('AssetPair', { amountAsset: optionalBytes, priceAsset: optionalBytes });
const dataEntry = caseType('DataEntry', { key: STRING, value: union(INT, BOOLEAN, BYTES, STRING) });
const entries = list(dataEntry);

const head = { id: BYTES, fee: INT, timestamp: INT, version: INT };
const signed = { sender: address, senderPublicKey: BYTES, bodyBytes: BYTES };

const order: Fields = {
  id: BYTES,
  matcherPublicKey: BYTES,
  assetPair,
  orderType: union(BUY_TYPE, SELL_TYPE),
  price: INT,
  amount: INT,
  timestamp: INT,
  expiration: INT,
  matcherFee: INT,
};

/** Own fields of the types that an asset script sees, then of the others. */
const touchingAssets: Readonly<Record<string, Fields>> = {
  ReissueTransaction: { quantity: INT, assetId: BYTES, reissuable: BOOLEAN },
  BurnTransaction: { quantity: INT, assetId: BYTES },
  MassTransferTransaction: {
    feeAssetId: optionalBytes,
    assetId: optionalBytes,
    totalAmount: INT,
    transfers: list(transfer),
    transferCount: INT,
    attachment: BYTES,
  },
  ExchangeTransaction: {
    buyOrder: address,
    sellOrder: address,
    price: INT,
    amount: INT,
    buyMatcherFee: INT,
    sellMatcherFee: INT,
  },
  TransferTransaction: {
    feeAssetId: optionalBytes,
    amount: INT,
    assetId: optionalBytes,
    recipient: addressOrAlias,
    attachment: BYTES,
  },
  SetAssetScriptTransaction: { script: optionalBytes, assetId: BYTES },
};

const others: Readonly<Record<string, Fields>> = {
  CreateContractTransaction: {},
  CallContractTransaction: { contractId: BYTES, contractVersion: INT },
  DisableContractTransaction: { contractId: BYTES },
  UpdateContractTransaction: { contractId: BYTES },
  IssueTransaction: {
    quantity: INT,
    name: BYTES,
    description: BYTES,
    reissuable: BOOLEAN,
    decimals: INT,
    script: optionalBytes,
  },
  LeaseTransaction: { amount: INT, recipient: addressOrAlias },
  LeaseCancelTransaction: { leaseId: BYTES },
  CreateAliasTransaction: { alias: STRING },
  SetScriptTransaction: { script: optionalBytes },
  SponsorFeeTransaction: { assetId: BYTES, isEnabled: BOOLEAN },
  DataTransaction: { data: entries },
};

/** Asset scripts judge what is permitted anyway, so they see no proofs. */
function declare(context: Context): CaseTypes {
  const proven: Fields = context === 'account' ? { ...signed, proofs: list(BYTES) } : signed;
  const orderType = caseType('Order', { ...order, ...proven });
  const genesis = caseType('GenesisTransaction', {
    amount: INT,
    recipient: addressOrAlias,
    ...head,
  });
  const payment = caseType('PaymentTransaction', {
    amount: INT,
    recipient: addressOrAlias,
    ...head,
    ...proven,
  });
  const whole = (types: Readonly<Record<string, Fields>>): CaseType[] =>
    Object.entries(types).map(([name, fields]) => {
      const isExchange = name === 'ExchangeTransaction';
      const own = isExchange ? { ...fields, buyOrder: orderType, sellOrder: orderType } : fields;
      return caseType(name, { ...own, ...head, ...proven });
    });
  const touching = whole(touchingAssets);
  const transactions = [...touching, ...whole(others)];
  const all = [address, alias, transfer, assetPair, dataEntry, orderType, genesis, payment];
  const constructors = [...all, ...transactions];
  return {
    constructors: byName(constructors),
    named: new Map<string, Type>([
      ...byName(constructors),
      ['Unit', UNIT_TYPE],
      ['Int', INT],
      ['Boolean', BOOLEAN],
      ['ByteVector', BYTES],
      ['String', STRING],
      ['Transaction', union(...transactions)],
    ]),
    tx: context === 'account' ? union(orderType, ...transactions) : union(...touching),
    anyTransaction: union(genesis, payment, ...transactions),
    addressOrAlias,
    address,
    entries,
  };
}

const byName = (types: readonly CaseType[]): Map<string, CaseType> =>
  new Map(types.map((type) => [type.name, type]));

const declared: Readonly<Record<Context, CaseTypes>> = {
  account: declare('account'),
  asset: declare('asset'),
};

export const caseTypes = (context: Context): CaseTypes => declared[context];
