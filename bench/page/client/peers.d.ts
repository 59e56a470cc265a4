// The little that is used of packages whose own types do not fit how they are imported.

declare module "@journeyapps/wa-sqlite/dist/*" {
  const factory: () => Promise<object>;
  export default factory;
}

declare module "@journeyapps/wa-sqlite/src/examples/*" {
  interface FileSystem {
    close(): void | Promise<void>;
  }
  interface FileSystemClass {
    create(name: string, module: object): Promise<FileSystem>;
  }
  export const IDBBatchAtomicVFS: FileSystemClass;
  export const IDBMirrorVFS: FileSystemClass;
  export const AccessHandlePoolVFS: FileSystemClass;
  export const OPFSAdaptiveVFS: FileSystemClass;
  export const OPFSCoopSyncVFS: FileSystemClass;
  export const OPFSWriteAheadVFS: FileSystemClass;
}

declare module "*?url" {
  const url: string;
  export default url;
}
