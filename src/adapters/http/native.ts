/**
 * Apps of uWebSockets.js, in the build that hyper-express uses (decision 2). Its addon is prebuilt
 * for some releases of Node only, so it is loaded on request and may be missing.
 */
import { createRequire } from 'node:module';
import type { TlsFiles } from '../../base/ports/http.ts';
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

/** The parts of the two packages that are used here. */
interface HyperExpress {
  readonly Server: new (options: object) => { readonly uws_instance: ListeningApp };
}
interface Uws {
  us_listen_socket_close(socket: unknown): void;
}

/** Throws where the addon does not load. */
export function loadNative(): NativeListener {
  const require = createRequire(import.meta.url);
  const uws: Uws = require('uWebSockets.js');
  const { Server }: HyperExpress = require('hyper-express');
  return {
    createApp(tls) {
      return new Server({ ...filesOf(tls), auto_close: false }).uws_instance;
    },
    portDoor: (host, port) => portDoor(uws, host, port),
  };
}

function filesOf(tls: TlsFiles | undefined): object {
  if (tls === undefined) return {};
  const { cert, key, clientCa } = tls;
  const files = { cert_file_name: cert, key_file_name: key };
  return clientCa === undefined ? files : { ...files, ca_file_name: clientCa };
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
