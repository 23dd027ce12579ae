public import AudioCore
public enum ConversionError: Error { case x; public var description: String {""} }
public final class SpeechConverter { public init(from: StreamFormat) throws(ConversionError) {}
public func convert(_ s: Span<Int16>, into o: inout [Int16]) throws(ConversionError) {}
public func finish(into o: inout [Int16]) throws(ConversionError) {} }
