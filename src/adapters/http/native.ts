/**
 * Apps of uWebSockets.js (decision 2). Its addon is prebuilt for some releases of Node only, so it is
 * loaded on request and may be missing.
 */
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { TlsFileError, type TlsFiles } from '../../base/ports/http.ts';
import type { App, Door, Listener } from './app.ts';

/** With the functions that pass connections between threads. */
export interface NativeApp extends App {
  getDescriptor(): number;
  addChildAppDescriptor(descriptor: number): void;
  removeChildAppDescriptor(descriptor: number): void;
}

export interface NativeListener extends Listener {
  createApp(tls: TlsFiles | undefined): NativeApp;
}

interface ListeningApp extends NativeApp {
  listen(host: string, port: number, listening: (socket: unknown) => void): void;
}

/** The parts that are used here. */
interface Uws {
  App(): ListeningApp;
  SSLApp(files: object): ListeningApp;
  us_listen_socket_close(socket: unknown): void;
  /** `silent`: answers do not name the server in a header. */
  _cfg(key: 'silent'): void;
}

/** Throws where the addon does not load. */
export function loadNative(): NativeListener {
  const require = createRequire(import.meta.url);
  const uws: Uws = require('uWebSockets.js');
  uws._cfg('silent');
  return {
    createApp: (tls) => (tls === undefined ? uws.App() : createTlsApp(uws, tls)),
    portDoor: (host, port) => portDoor(uws, host, port),
  };
}

/** The native server gives no reason. tls-files.ts has passed the files, and takes more kinds of keys. */
function createTlsApp(uws: Uws, tls: TlsFiles): ListeningApp {
  try {
    return uws.SSLApp(filesOf(tls));
  } catch (cause) {
    const why = `'${tls.key}' is of a kind that the server does not take: make one for RSA or P-256`;
    throw new TlsFileError('key', why, { cause });
  }
}

function filesOf({ cert, key, clientCa }: TlsFiles): object {
  const files = { cert_file_name: resolve(cert), key_file_name: resolve(key) };
  return clientCa === undefined ? files : { ...files, ca_file_name: resolve(clientCa) };
}

function portDoor(uws: Uws, host: string, port: number): Door {
  let listening: unknown;
  const close = (): void => {
    if (listening) uws.us_listen_socket_close(listening);
    listening = undefined;
  };
  return {
    open(app) {
      close();
      (app as ListeningApp).listen(host, port, (socket) => {
        listening = socket;
      });
      if (!listening) throw new Error(`HTTP: cannot listen on ${host}:${port}`);
    },
    close,
  };
}
