// On Linux `URLRequest`, `URLResponse` and `URLSession` live in a module of their own; a program that imports only
// AOperation names them too.
#if canImport(FoundationNetworking)
    @_exported import FoundationNetworking
#endif
