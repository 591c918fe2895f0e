/** Blocks and headers as JSON (decision 31: coreconsensus and height). */

import { base58 } from '../base/base58.ts';
import { integer } from '../base/json/json.ts';
import type { Header as HeaderFields } from '../block/header.ts';
import { decodeHeaderRow, type HeaderRow } from '../block/header-row.ts';
import type { TurnClaims } from '../block/turn-claims.ts';
import { type Part, transactionBytesAt } from '../chain/store/stored-blocks.ts';
import type { ChainScheme } from '../codec/codec.ts';
import { headers } from '../ledger/tables.ts';
import { print } from '../rest-framework/answer.ts';
import { Int32, Int64 } from '../rest-framework/body.ts';
import { endingWith, type JsonChunks, listOf, mapped } from '../rest-framework/json-chunks.ts';
import { Type } from '../rest-framework/type.ts';
import { decodeStoredTx } from '../tx/tx-bytes.ts';
import { Final, finalHeight, finalMember, type MarkNeeds, withFinal } from './final-mark.ts';
import type { ApiSettings, Services } from './services.ts';
import { confirmedJson, extendedJson, Transaction } from './shapes.ts';

const LostTurn = Type.Object({
  timestamp: Int64,
  reference: Type.String(),
  generator: Type.String(),
  generatorPublicKey: Type.String(),
  signature: Type.String(),
});

const Stake = Type.Object({ 'base-target': Int64, 'generation-signature': Type.String() });

const header = {
  version: Int32,
  timestamp: Int64,
  reference: Type.String(),
  coreconsensus: Type.Object({ basetarget: Int64, generationsignature: Type.String() }),
  'poa-consensus': Type.Optional(
    Type.Object({
      'overall-skipped-rounds': Int64,
      'turn-signature': Type.Optional(Type.String()),
      'lost-turns': Type.Optional(Type.Array(LostTurn)),
    }),
  ),
  'pos-consensus': Type.Optional(Stake),
  'nxt-consensus': Type.Optional(Stake),
  features: Type.Optional(Type.Array(Int32)),
  generator: Type.String(),
  signature: Type.String(),
  blocksize: Int32,
  transactionCount: Int32,
  fee: Int64,
  height: Int32,
  final: Final,
};

export const Header = Type.Object(header);
const transactions = Type.Array(Transaction);
export const Block = Type.Object({ ...header, transactions });
export const LastBlock = Type.Object({
  ...header,
  finalHeight: Type.Optional(Int32),
  transactions,
});

const FIRST_VERSION_WITH_FEATURES = 3;

/** A block of the chain without its transactions. */
export interface PlacedHeader extends HeaderRow {
  readonly height: number;
}

type Needs = Pick<Services, 'scheme' | 'settings'> & MarkNeeds;

export function headerJson(
  { height, header, blockSize, transactionCount, fee }: PlacedHeader,
  { scheme, settings }: Pick<Needs, 'scheme' | 'settings'>,
): Record<string, unknown> {
  return {
    version: header.version,
    timestamp: header.timestamp,
    reference: base58.encode(header.reference),
    ...consensusJson(header, settings.sdkCompatible, scheme),
    ...(header.version >= FIRST_VERSION_WITH_FEATURES ? { features: header.features } : {}),
    generator: scheme.addressToText(scheme.addressOf(header.generator)),
    signature: base58.encode(header.signature),
    blocksize: blockSize,
    transactionCount,
    fee: integer(fee),
    height,
  };
}

/**
 * Texts of headers by their rows. The head keeps the latest used rows in memory and gives the same
 * object for the same row. So a text lives as long as its row, and a row that a rollback replaces
 * takes its text with it.
 */
const texts = new WeakMap<ApiSettings, WeakMap<Uint8Array, string>>();

/** The header as it is printed; undefined above the last block. */
export function headerText(
  height: number,
  services: Needs,
  highestFinal = finalHeight(services),
): string | undefined {
  const { view } = services;
  const row = view.get(headers, height);
  if (row === undefined) return undefined;
  let known = texts.get(services.settings);
  if (known === undefined) {
    known = new WeakMap();
    texts.set(services.settings, known);
  }
  let text = known.get(row);
  if (text === undefined) {
    text = print(headerJson({ height, ...decodeHeaderRow(row, view.scheme) }, services));
    known.set(row, text);
  }
  // What is final changes while the row stays.
  return withFinal(text, height, highestFinal);
}

function consensusJson(
  { consensus }: HeaderFields,
  sdkCompatible: boolean,
  scheme: ChainScheme,
): Record<string, unknown> {
  if (consensus.kind === 'poa') {
    return {
      coreconsensus: { basetarget: 0, generationsignature: '' },
      'poa-consensus': {
        'overall-skipped-rounds': consensus.skippedRounds,
        ...claimsJson(consensus.claims, scheme),
      },
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

/** The turn that the block claims for itself, and those of blocks that lost. */
function claimsJson(claims: TurnClaims | undefined, scheme: ChainScheme): Record<string, unknown> {
  if (claims === undefined) return {};
  const lost = claims.lost.map(({ timestamp, reference, generator, signature }) => ({
    timestamp,
    reference: base58.encode(reference),
    generator: scheme.addressToText(scheme.addressOf(generator)),
    generatorPublicKey: base58.encode(generator),
    signature: base58.encode(signature),
  }));
  return {
    'turn-signature': base58.encode(claims.own),
    ...(lost.length === 0 ? {} : { 'lost-turns': lost }),
  };
}

export interface BlockOptions {
  /** With the state of leases. */
  readonly extended?: boolean;
  readonly part?: Part | undefined;
  /** With the height of the highest final block, where voters make blocks final. */
  readonly finalHeight?: boolean;
}

export function blockChunks(
  placed: PlacedHeader,
  services: Needs,
  { extended = false, part, finalHeight: showsHeight = false }: BlockOptions = {},
): JsonChunks {
  const show = extended ? extendedJson : confirmedJson;
  const { height } = placed;
  const { scheme, view } = services;
  const txs = mapped(transactionBytesAt(view, height, part), (bytes) =>
    decodeStoredTx(bytes, scheme),
  );
  const transactions = listOf(txs, (tx) => show({ tx, height }, services));
  const highest = finalHeight(services);
  const json = {
    ...headerJson(placed, services),
    ...finalMember(height, highest),
    ...(showsHeight && highest !== undefined ? { finalHeight: highest } : {}),
  };
  return endingWith(json, 'transactions', transactions);
}
