/** The part of WebAssembly's interface that the sources use; Node's types leave it to browsers. */
interface WebAssemblyModule {
  readonly module: never;
}

interface WebAssemblyMemory {
  readonly buffer: ArrayBuffer;
}

declare const WebAssembly: {
  compile(bytes: Uint8Array<ArrayBuffer>): Promise<WebAssemblyModule>;
  readonly Module: new (bytes: Uint8Array<ArrayBuffer>) => WebAssemblyModule;
  readonly Memory: new (pages: { initial: number; maximum: number }) => WebAssemblyMemory;
  readonly Instance: new (
    module: WebAssemblyModule,
    imports: { host: { memory: WebAssemblyMemory } },
  ) => { readonly exports: Readonly<Record<string, unknown>> };
};
