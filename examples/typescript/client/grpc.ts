/** gRPC over HTTP/2 with what Node contains: calls with one answer, and streams of answers. */
import { type ClientHttp2Session, type ClientHttp2Stream, connect } from 'node:http2';
import { connect as connectSocket } from 'node:net';
import { decode, encode, type Message, type Shape } from './protobuf.ts';

export interface Method {
  readonly path: string;
  readonly request: Shape;
  readonly reply: Shape;
}

/** The node refused a call. `code` is its error code, for example 304 for an absent key. */
export class NodeError extends Error {
  override name = 'NodeError';
  readonly code: number;

  constructor(message: string, code: number) {
    super(message);
    this.code = code;
  }
}

export interface Connection {
  call(method: Method, token: string, message: Message): Promise<Message>;
  /** Ends when the node closes the stream. */
  stream(
    method: Method,
    token: string,
    message: Message,
    onMessage: (answer: Message) => void,
  ): Promise<void>;
}

/** 1 byte: compressed or not; 4 bytes: length. */
const FRAME_HEADER_BYTES = 5;

/** `host` is the word `unix` where `port` is the path of a socket. */
export function connectTo(host: string, port: string): Connection {
  const session =
    host === 'unix'
      ? connect('http://localhost', { createConnection: () => connectSocket(port) })
      : connect(`http://${host}:${port}`);
  let failure: Error | undefined;
  session.on('error', (error) => {
    failure = error;
  });

  const stream: Connection['stream'] = (method, token, message, onMessage) => {
    const opened = open(session, method, token, message);
    return new Promise((resolve, reject) => {
      const frames = frameReader((frame) => onMessage(decode(method.reply, frame)));
      let headers: Headers = {};
      opened.on('response', (first) => {
        headers = first;
      });
      opened.on('trailers', (last) => {
        headers = { ...headers, ...last };
      });
      opened.on('data', frames);
      opened.on('error', reject);
      opened.on('close', () => {
        const status = Number(headers['grpc-status'] ?? 2);
        if (status === 0) resolve();
        else reject(failure ?? errorOf(headers, status));
      });
    });
  };

  return {
    stream,
    async call(method, token, message) {
      let answer: Message = {};
      await stream(method, token, message, (one) => {
        answer = one;
      });
      return answer;
    },
  };
}

type Headers = { readonly [name: string]: string | string[] | number | undefined };

function open(
  session: ClientHttp2Session,
  { path, request }: Method,
  token: string,
  message: Message,
): ClientHttp2Stream {
  const opened = session.request({
    ':method': 'POST',
    ':path': path,
    'content-type': 'application/grpc',
    te: 'trailers',
    authorization: token,
  });
  const body = encode(request, message);
  const header = Buffer.alloc(FRAME_HEADER_BYTES);
  header.writeUInt32BE(body.length, 1);
  opened.end(Buffer.concat([header, body]));
  return opened;
}

/** Takes pieces of a stream and gives whole messages. */
function frameReader(onFrame: (frame: Buffer) => void): (piece: Buffer) => void {
  let waiting = Buffer.alloc(0);
  return (piece) => {
    waiting = Buffer.concat([waiting, piece]);
    while (waiting.length >= FRAME_HEADER_BYTES) {
      const end = FRAME_HEADER_BYTES + waiting.readUInt32BE(1);
      if (waiting.length < end) return;
      onFrame(waiting.subarray(FRAME_HEADER_BYTES, end));
      waiting = waiting.subarray(end);
    }
  };
}

function errorOf(headers: Headers, status: number): NodeError {
  const message = headers['grpc-message'] ?? headers['error-message'] ?? `gRPC status ${status}`;
  return new NodeError(unescaped(String(message)), Number(headers['error-code'] ?? status));
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
