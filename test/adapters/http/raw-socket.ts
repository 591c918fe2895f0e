/** Requests as bytes on a socket, for input that no correct client sends. */
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export interface RawResult {
  readonly text: string;
  /** True if the server ended the connection. */
  readonly closed: boolean;
  readonly ms: number;
}

/** Sends all pieces, then collects what comes until `until` says enough or the time is over. */
export function exchange(
  port: number,
  pieces: readonly (string | Uint8Array)[],
  until: (text: string) => boolean = () => false,
  timeoutMs = 2000,
): Promise<RawResult> {
  return new Promise((resolve) => {
    const started = Date.now();
    const socket = connect(port, '127.0.0.1');
    let text = '';
    let settled = false;
    const finish = (closed: boolean): void => {
      if (settled) return;
      settled = true;
      clearTimeout(timer);
      socket.destroy();
      resolve({ text, closed, ms: Date.now() - started });
    };
    const timer = setTimeout(() => finish(false), timeoutMs);
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      if (until(text)) finish(false);
    });
    socket.on('error', () => {});
    socket.on('close', () => finish(true));
    for (const piece of pieces) socket.write(piece);
  });
}

/** As `exchange`, for one request with one complete answer. */
export async function ask(port: number, head: string, body: string | Uint8Array = '') {
  const pieces = [`${head.replaceAll('\n', '\r\n')}\r\n\r\n`, body].filter((p) => p.length > 0);
  const isEnd = head.startsWith('HEAD ') ? hasHead : completes();
  const { text } = await exchange(port, pieces, isEnd, 5000);
  const [status] = /\d{3}/.exec(text) ?? ['0'];
  const split = text.indexOf('\r\n\r\n');
  return { status: Number(status), head: text.slice(0, split), body: text.slice(split + 4) };
}

/** All of an answer to HEAD. */
export const hasHead = (text: string): boolean => text.includes('\r\n\r\n');

export const isComplete = (text: string): boolean => completes()(text);

/** The same for pieces of one text that grows: a long one is looked into once. */
export function completes(): (text: string) => boolean {
  let end: number | undefined;
  return (text) => {
    const split = end === undefined ? text.indexOf('\r\n\r\n') : -1;
    const length = split < 0 ? undefined : /content-length: (\d+)/i.exec(text)?.[1];
    if (length !== undefined) end = split + 4 + Number(length);
    return end !== undefined && text.length >= end;
  };
}

/** Asks until it is true, for at most two seconds. */
export async function eventually(ask: () => Promise<boolean>): Promise<boolean> {
  for (let i = 0; i < 100; i++) {
    if (await ask()) return true;
    await sleep(20);
  }
  return false;
}
