/** Blocks and headers as JSON (decision 31). */
import Type from 'typebox';
import { base58 } from '../base/base58.ts';
import { integer } from '../base/json.ts';
import { Int32, Int64 } from './body.ts';
import { endingWith, listOf, type Pieces } from './pieces.ts';
import type { HeaderView } from './reads.ts';
import type { Services } from './services.ts';
import { confirmedJson, extendedJson, Transaction } from './shapes.ts';

const header = {
  version: Int32,
  timestamp: Int64,
  reference: Type.String(),
  coreconsensus: Type.Object({ basetarget: Int64, generationsignature: Type.String() }),
  features: Type.Optional(Type.Array(Int32)),
  generator: Type.String(),
  signature: Type.String(),
  blocksize: Int32,
  transactionCount: Int32,
  fee: Int64,
  height: Int32,
};

export const Header = Type.Object(header);
export const Block = Type.Object({ ...header, transactions: Type.Array(Transaction) });

const FIRST_VERSION_WITH_FEATURES = 3;

type Needs = Pick<Services, 'scheme' | 'settings' | 'leases' | 'chain'>;

export function headerJson(view: HeaderView, { scheme, settings }: Needs): Record<string, unknown> {
  return {
    version: view.version,
    timestamp: view.timestamp,
    reference: base58.encode(view.reference),
    ...consensusJson(view, settings.sdkCompatible),
    ...(view.version >= FIRST_VERSION_WITH_FEATURES ? { features: view.features } : {}),
    generator: scheme.addressToText(view.generator),
    signature: base58.encode(view.signature),
    blocksize: view.size,
    transactionCount: view.transactionCount,
    fee: integer(view.fee),
    height: view.height,
  };
}

function consensusJson(view: HeaderView, sdkCompatible: boolean): Record<string, unknown> {
  const { consensus } = view;
  if (consensus.kind === 'poa') {
    return {
      coreconsensus: { basetarget: 0, generationsignature: '' },
      'poa-consensus': { 'overall-skipped-rounds': consensus.skippedRounds },
    };
  }
  const target = integer(consensus.baseTarget);
  const signature = base58.encode(consensus.generationSignature);
  const hyphenated = { 'base-target': target, 'generation-signature': signature };
  return {
    coreconsensus: { basetarget: target, generationsignature: signature },
    'pos-consensus': hyphenated,
    ...(sdkCompatible ? { 'nxt-consensus': hyphenated } : {}),
  };
}

export function blockPieces(view: HeaderView, services: Needs, extended: boolean): Pieces {
  const show = extended ? extendedJson : confirmedJson;
  const { height } = view;
  const transactions = listOf(services.chain.transactionsAt(height), (tx) =>
    show({ tx, height }, services),
  );
  return endingWith(headerJson(view, services), 'transactions', transactions);
}
