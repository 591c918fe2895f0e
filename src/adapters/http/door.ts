/** How connections come to an app of the native server. */
import uws from 'uWebSockets.js';

/** With the functions that pass connections between threads, which the package does not declare. */
export type App = ReturnType<typeof uws.App> & {
  getDescriptor(): number;
  addChildAppDescriptor(descriptor: number): void;
  removeChildAppDescriptor(descriptor: number): void;
};

export interface Door {
  /** Leads new connections to this app from now on; throws where that is impossible. */
  open(app: App): void;
  /** Lets no more connections in. */
  close(): void;
}

/** Listens on a port. */
export function portDoor(host: string, port: number): Door {
  let listening: unknown;
  const close = (): void => {
    if (listening) uws.us_listen_socket_close(listening as never);
    listening = undefined;
  };
  return {
    open(app) {
      close();
      app.listen(host, port, (socket) => {
        listening = socket;
      });
      if (!listening) throw new Error(`HTTP: cannot listen on ${host}:${port}`);
    },
    close,
  };
}
