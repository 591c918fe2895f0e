/**
 * Prints stored transactions straight from their bytes: the text of `txToJson`, without making a
 * value of each field and an object of all of them. The declaration of a type stays the only place
 * that knows its layout: each codec prints its own value (`Codec.print`).
 */

import { equal } from '../../base/bytes.ts';
import { SIGNATURE_BYTES } from '../../base/sizes.ts';
import { type ChainScheme, Reader } from '../../codec/codec.ts';
import { base58 } from '../../codec/text.ts';
import { isSigned } from '../assemble.ts';
import type { CompiledLayout } from '../compiled-layout.ts';
import { proofs } from '../fields/proofs.ts';
import { layoutOfBytes } from '../registry.ts';

export interface PrintedTx {
  readonly type: number;
  readonly id: Uint8Array;
  /** The JSON object without its closing brace, so that the caller may add members. */
  readonly open: string;
}

/** An id in both forms. */
export interface KnownId {
  readonly bytes: Uint8Array;
  readonly text: string;
}

/**
 * `asked`: the id that the transaction probably has, whose text is then not made again.
 *
 * Undefined where a type computes members from others, or its bytes do not name their layout: such
 * a transaction is decoded and printed by `txToJson`.
 */
export function printTx(
  bytes: Uint8Array,
  scheme: ChainScheme,
  asked?: KnownId,
): PrintedTx | undefined {
  const compiled = layoutOfBytes(bytes);
  return compiled && printerOf(compiled)?.(bytes, scheme, asked);
}

type Printer = (bytes: Uint8Array, scheme: ChainScheme, asked: KnownId | undefined) => PrintedTx;

const printers = new WeakMap<CompiledLayout, Printer | 'none'>();

function printerOf(compiled: CompiledLayout): Printer | undefined {
  let printer = printers.get(compiled);
  if (printer === undefined) {
    printer = isPlain(compiled) ? printerFor(compiled) : 'none';
    printers.set(compiled, printer);
  }
  return printer === 'none' ? undefined : printer;
}

const COMMON = ['senderPublicKey', 'fee', 'timestamp'];
/** Members that do not come from fields; a field of the same name would replace them. */
const TAKEN = new Set(['type', 'id', 'sender', 'proofs', 'signature', 'version', ...COMMON]);

function isPlain({ def, layout, names, ownNames, ownCodecs }: CompiledLayout): boolean {
  const hasOwnRules =
    def.id !== undefined ||
    def.sender !== undefined ||
    def.derived !== undefined ||
    def.accounts !== undefined;
  return (
    !hasOwnRules &&
    layout.frame !== 'genesis' &&
    COMMON.every((name) => names.includes(name)) &&
    ownNames.every((name) => !TAKEN.has(name)) &&
    ownCodecs.every((codec) => codec.flat !== true)
  );
}

function printerFor(compiled: CompiledLayout): Printer {
  const { def, layout, names, wires, ownNames } = compiled;
  const { frame } = layout;
  const [, feeAt, timestampAt] = COMMON.map((name) => names.indexOf(name));
  const fields = names.map((name, i) => textOf(wires[i]!, def.fields[name]!));
  const keyAt = names.indexOf('senderPublicKey');
  const own = ownNames.map((name) => ({ at: names.indexOf(name), start: `,"${name}":` }));
  const signed = isSigned(frame);
  // Bytes before the first field, and those of them that the body lacks.
  const lead = frame === 'signedFirst' ? SIGNATURE_BYTES + 2 : frame === 'signedLast' ? 1 : 0;
  const headBytes = lead > 0 ? lead : frame === 'provenFlat' ? 2 : 3;
  const bodyStart = frame === 'proven' ? 1 : frame === 'signedFirst' ? SIGNATURE_BYTES + 1 : 0;
  const version = def.versionless === true ? '' : `,"version":${layout.version}`;
  const start = `{"type":${def.type},"id":"`;
  // One at a time: printing calls nothing that prints another transaction of the same layout.
  const texts: string[] = new Array(names.length).fill('');

  return (bytes, scheme, asked) => {
    const src = new Reader(bytes, scheme);
    src.position = headBytes;
    let sender = '';
    for (let i = 0; i < fields.length; i++) {
      if (i === keyAt) {
        const { address, publicKey } = scheme.accountTexts(src.bytes(scheme.publicKeySize));
        sender = `","sender":"${address}","senderPublicKey":"${publicKey}","fee":`;
      } else texts[i] = fields[i]!(src);
    }
    const id = scheme.fastHash(src.input.subarray(bodyStart, src.position));
    const idText = asked !== undefined && equal(id, asked.bytes) ? asked.text : base58.encode(id);
    let open = `${start}${idText}${sender}${texts[feeAt!]},"timestamp":${texts[timestampAt!]}`;
    if (signed) {
      if (frame === 'signedFirst') src.position = 1;
      const text = base58.encode(src.bytes(SIGNATURE_BYTES));
      open += `,"signature":"${text}","proofs":["${text}"]${version}`;
    } else {
      open += `,"proofs":${proofs.print!(src)}${version}`;
    }
    for (let i = 0; i < own.length; i++) {
      const { at, start } = own[i]!;
      open += start + texts[at];
    }
    return { type: def.type, id, open };
  };
}

type AnyCodec = CompiledLayout['wires'][number];

/** `wire` reads the bytes of a layout; `shown` has the JSON form of the field. */
function textOf(wire: AnyCodec, shown: AnyCodec): (src: Reader) => string {
  const { print } = shown;
  if (wire === shown && print !== undefined) return (src) => print(src);
  return (src) => JSON.stringify(shown.toJson(wire.read(src), src.scheme));
}
