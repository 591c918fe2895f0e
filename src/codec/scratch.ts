/**
 * The one growing buffer for all encoding. Writing is synchronous and never nested, so one is
 * enough.
 */
import { type ChainScheme, Writer } from './codec.ts';

let writer: Writer | undefined;

/** An empty writer; valid until the next call. */
export function scratch(scheme: ChainScheme): Writer {
  if (writer === undefined || writer.scheme !== scheme) writer = new Writer(scheme);
  writer.reset();
  return writer;
}
