/**
 * Yamux with a limit on its frames. Its decoder collects a whole frame before it checks the window,
 * and a frame may claim four gigabytes. Without this guard an unknown host could fill the memory.
 *
 * Header of a frame, 12 bytes: version, type (0 data), flags 2, stream 4, length 4.
 */
import { yamux } from '@libp2p/yamux';

const HEADER_BYTES = 12;
const LENGTH_AT = 8;
const DATA = 0;
/** The most bytes that a stream may have on the way to a slow reader. */
const WINDOW_BYTES_MAX = 1024 * 1024;

type Factory = ReturnType<typeof yamux>;
type Muxers = ReturnType<Factory>;
type Raw = Parameters<Muxers['createStreamMuxer']>[0];

export function guardedYamux(streamsMax: number): Factory {
  const make = yamux({
    maxInboundStreams: streamsMax,
    maxOutboundStreams: streamsMax,
    streamOptions: {
      maxStreamWindowSize: WINDOW_BYTES_MAX,
      maxReadBufferLength: 2 * WINDOW_BYTES_MAX,
    },
  });
  return (...args) => {
    const muxers = make(...args);
    const create = muxers.createStreamMuxer.bind(muxers);
    return Object.assign(muxers, {
      createStreamMuxer(raw: Raw) {
        guard(raw);
        return create(raw);
      },
    });
  };
}

/** Reads every header on the way, from one to the next. */
function guard(raw: Raw): void {
  const header = Buffer.alloc(HEADER_BYTES);
  let filled = 0;
  let skip = 0;
  raw.addEventListener('message', ({ data }) => {
    const bytes = data.subarray();
    for (let at = 0; at < bytes.length; ) {
      if (skip > 0) {
        const step = Math.min(skip, bytes.length - at);
        skip -= step;
        at += step;
        continue;
      }
      header[filled++] = bytes[at++]!;
      if (filled < HEADER_BYTES) continue;
      filled = 0;
      skip = header[1] === DATA ? header.readUInt32BE(LENGTH_AT) : 0;
      if (skip > WINDOW_BYTES_MAX) {
        raw.abort(new Error(`a frame of ${skip} bytes, at most ${WINDOW_BYTES_MAX}`));
        return;
      }
    }
  });
}
