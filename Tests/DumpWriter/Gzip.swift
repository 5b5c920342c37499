import CZlib

/// Compresses bytes into a single gzip member.
public func gzip(_ bytes: [UInt8]) -> [UInt8] {
    var stream = unsafe z_stream()
    let size = unsafe Int32(MemoryLayout<z_stream>.size)
    // zlib writes the gzip format if 16 is added to the window bits, which are 15.
    let code = unsafe deflateInit2_(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, size)
    precondition(code == Z_OK)
    defer { unsafe deflateEnd(&stream) }
    var input = bytes
    var output = [UInt8](repeating: 0, count: unsafe Int(deflateBound(&stream, UInt(bytes.count))))
    let count = unsafe input.withUnsafeMutableBufferPointer { input in
        unsafe output.withUnsafeMutableBufferPointer { output in
            unsafe stream.next_in = input.baseAddress
            unsafe stream.avail_in = UInt32(input.count)
            unsafe stream.next_out = output.baseAddress
            unsafe stream.avail_out = UInt32(output.count)
            precondition(unsafe deflate(&stream, Z_FINISH) == Z_STREAM_END)
            return unsafe Int(stream.total_out)
        }
    }
    return Array(output.prefix(count))
}
