/** Transaction → JSON of answers (transactions.md#json). */
import { integer } from '../../base/json/json.ts';
import type { ChainScheme } from '../../codec/codec.ts';
import { base58 } from '../../codec/text.ts';
import { isSigned } from '../assemble.ts';
import { type CompiledLayout, compiledLayoutOf } from '../compiled-layout.ts';
import type { Tx } from '../transaction.ts';

const NONE: Readonly<Record<string, string>> = {};

/** All members that belong to the transaction itself; `height` and the like are not among them. */
export function txToJson(tx: Tx, scheme: ChainScheme): Record<string, unknown> {
  const compiled = compiledLayoutOf(tx.def, tx.layout);
  const json: Record<string, unknown> = { type: tx.type, id: base58.encode(tx.id) };
  if (tx.sender.length > 0) {
    json['sender'] = scheme.addressToText(tx.sender);
    json['senderPublicKey'] = base58.encode(tx.senderPublicKey);
  }
  json['fee'] = integer(tx.fee);
  json['timestamp'] = tx.timestamp;
  addProofs(json, tx);
  if (tx.def.versionless !== true) json['version'] = tx.version;
  addOwnFields(json, tx, compiled, scheme);
  for (const [member, key] of Object.entries(tx.def.accounts ?? NONE)) {
    json[member] = scheme.addressToText(scheme.addressOf(tx.fields[key] as Uint8Array));
  }
  if (tx.def.derived !== undefined) Object.assign(json, tx.def.derived(tx, scheme));
  return json;
}

function addProofs(json: Record<string, unknown>, tx: Tx): void {
  const { frame } = tx.layout;
  if (frame === 'genesis') {
    json['signature'] = json['id'];
    return;
  }
  const texts: string[] = [];
  for (let i = 0; i < tx.proofs.length; i++) texts.push(base58.encode(tx.proofs[i]!));
  if (isSigned(frame)) json['signature'] = texts[0];
  json['proofs'] = texts;
}

function addOwnFields(
  json: Record<string, unknown>,
  tx: Tx,
  compiled: CompiledLayout,
  scheme: ChainScheme,
): void {
  const { ownNames, ownCodecs } = compiled;
  for (let i = 0; i < ownNames.length; i++) {
    const name = ownNames[i]!;
    const codec = ownCodecs[i]!;
    const value = codec.toJson(tx.fields[name], scheme);
    if (codec.flat) Object.assign(json, value);
    else json[name] = value;
  }
}
