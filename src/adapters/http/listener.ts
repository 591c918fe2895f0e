/**
 * The Http port of this process: on uWebSockets.js, and on Node's own server where the addon of
 * uWebSockets.js does not load. Routes, limits and answers are the same on both (server.ts); Node's
 * own serves fewer requests and has no threads.
 */
import type { Http } from '../../base/ports/http.ts';
import type { Listener } from './app.ts';
import { bounds } from './bounds.ts';
import { freePort } from './free-port.ts';
import { listenBehindDoor } from './host-door.ts';
import { loadNative, type NativeListener } from './native.ts';
import { nodeListener } from './node-http/app.ts';
import { Server } from './server.ts';

interface Loaded {
  readonly native?: NativeListener;
  /** Why the addon does not load, in a line for the operator. */
  readonly problem?: string;
}

function load(): Loaded {
  try {
    return { native: loadNative() };
  } catch (cause) {
    const [problem = ''] = (cause instanceof Error ? cause.message : String(cause)).split('\n');
    return { problem };
  }
}

/** One of the two is there. */
export const { native, problem: nativeProblem } = load();

export const nodeHttp: Http = httpOn(nodeListener);

export const httpListener: Http = native === undefined ? nodeHttp : httpOn(native);

/** The listener that serves, for the operator. */
export const listenerText =
  native === undefined ? `node:http (${nativeProblem})` : 'uWebSockets.js';

export function httpOn(listener: Listener): Http {
  const http: Http = {
    async listen(routes, options) {
      const all = { ...bounds, ...options };
      const { host, maxConnectionsOfHost: ofHost } = options;
      if (ofHost !== undefined) return listenBehindDoor(http, routes, all, ofHost);
      const port = await freePort(host, options.port);
      const door = listener.portDoor(host, port);
      const server = new Server(routes, { ...all, port }, listener, door);
      await server.open();
      return server;
    },
  };
  return http;
}
