/** The one growing buffer that all encoding goes through: writing is synchronous, never nested. */
import { type Chain, Writer } from './codec.ts';

let writer: Writer | undefined;

/** An empty writer; valid until the next call. */
export function scratch(chain: Chain): Writer {
  if (writer === undefined || writer.chain !== chain) writer = new Writer(chain);
  writer.reset();
  return writer;
}
