/** The extension of the modules of threads, in the sources and in the published build. */
export const extension = import.meta.url.slice(import.meta.url.lastIndexOf('.'));
