/**
 * Noise with fewer system calls. libp2p writes every part of every frame to the socket separately:
 * lengths, headers, bodies, tags. Here all bytes of one turn of the event loop leave in one piece.
 * A gossiped transfer then takes a quarter of the writes.
 */
import { noise } from '@libp2p/noise';
import { Batcher } from '../../concurrency/batcher.ts';

type Factory = ReturnType<typeof noise>;
type Encrypter = ReturnType<Factory>;
type Raw = Parameters<Encrypter['secureOutbound']>[0];

/** Above this size, gathering more would only delay the bytes. */
const PIECE_BYTES = 64 * 1024;

export function gatheredNoise(): Factory {
  const make = noise();
  return (...args) => {
    const encrypter = make(...args);
    const inbound = encrypter.secureInbound.bind(encrypter);
    const outbound = encrypter.secureOutbound.bind(encrypter);
    return Object.assign(encrypter, {
      secureInbound: ((raw, ...more) => inbound(gather(raw), ...more)) as typeof inbound,
      secureOutbound: ((raw, ...more) => outbound(gather(raw), ...more)) as typeof outbound,
    });
  };
}

/** The connection below, with its writes gathered. */
function gather<T extends Raw>(raw: T): T {
  const send = raw.send.bind(raw);
  const close = raw.close.bind(raw);
  let waiting: Uint8Array[] = [];
  let bytes = 0;
  const batcher = new Batcher(flush);

  /** False when the socket asks for a pause; gathered bytes of a broken connection are dropped. */
  function flush(): boolean {
    const all = waiting;
    waiting = [];
    bytes = 0;
    if (all.length === 0 || raw.status !== 'open') return true;
    return send(Buffer.concat(all));
  }

  return Object.assign(raw, {
    send(data: Parameters<typeof send>[0]): boolean {
      // The connection refuses, as without gathering.
      if (raw.status !== 'open') return send(data);
      batcher.ask();
      waiting.push(data.subarray());
      bytes += data.byteLength;
      return bytes < PIECE_BYTES ? !raw.writableNeedsDrain : flush();
    },
    close(...args: Parameters<typeof close>) {
      flush();
      return close(...args);
    },
  });
}
