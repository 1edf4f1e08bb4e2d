// The publishers, subscribers and operators that a program uses with those of this module come with it.
@_exported import OpenCombine
